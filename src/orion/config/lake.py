"""Settings of the lake."""

from dataclasses import dataclass

from orion.config.field import setting


@dataclass(frozen=True)
class LakeSettings:
    """Where tables live."""

    path: str = setting(
        "", "Folder or URL (s3a://…) of the tables; empty: lake/ in the project's data"
    )
