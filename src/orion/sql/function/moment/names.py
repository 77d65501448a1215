"""English names of months, days and halves of the day, as Java's own locale has them."""

from orion.sql.function.moment.pattern import Part

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_QUARTERS = ("1st quarter", "2nd quarter", "3rd quarter", "4th quarter")


def _cut(names: tuple[str, ...], size: int) -> tuple[str, ...]:
    return tuple(name[:size] for name in names)


# For each part its names by style, from the first value on: months and days count from 1.
NAMES: dict[tuple[Part, str], tuple[int, tuple[str, ...]]] = {
    (Part.MONTH, "full"): (1, _MONTHS),
    (Part.MONTH, "short"): (1, _cut(_MONTHS, 3)),
    (Part.MONTH, "letter"): (1, _cut(_MONTHS, 1)),
    (Part.DAY_OF_WEEK, "full"): (1, _DAYS),
    (Part.DAY_OF_WEEK, "short"): (1, _cut(_DAYS, 3)),
    (Part.DAY_OF_WEEK, "letter"): (1, _cut(_DAYS, 1)),
    (Part.QUARTER, "full"): (1, _QUARTERS),
    (Part.QUARTER, "short"): (1, ("Q1", "Q2", "Q3", "Q4")),
    (Part.QUARTER, "letter"): (1, ("1", "2", "3", "4")),
    (Part.HALF, "short"): (0, ("AM", "PM")),
    (Part.ERA, "short"): (0, ("BC", "AD")),
    (Part.ERA, "full"): (0, ("Before Christ", "Anno Domini")),
    (Part.ERA, "letter"): (0, ("B", "A")),
}

# Full names of zones by their abbreviations; of others only the short name is known here.
ZONE_NAMES = {
    "UTC": "Coordinated Universal Time",
    "GMT": "Greenwich Mean Time",
    "PST": "Pacific Standard Time",
    "PDT": "Pacific Daylight Time",
    "MST": "Mountain Standard Time",
    "MDT": "Mountain Daylight Time",
    "CST": "Central Standard Time",
    "CDT": "Central Daylight Time",
    "EST": "Eastern Standard Time",
    "EDT": "Eastern Daylight Time",
    "BST": "British Summer Time",
    "CET": "Central European Standard Time",
    "CEST": "Central European Summer Time",
    "EET": "Eastern European Standard Time",
    "EEST": "Eastern European Summer Time",
    "JST": "Japan Standard Time",
}
