"""Rows that questions are asked of, here and in another engine."""

import random

CITIES = ("Rome", "Oslo", "Bonn", None)
_chosen = random.Random(11)
USERS = [(f"u{n}", _chosen.choice(CITIES), _chosen.choice((20, 30, 40, None))) for n in range(12)]
ORDERS = [
    (n, _chosen.choice([*(f"u{n}" for n in range(15)), None]), _chosen.randrange(9))
    for n in range(40)
]
