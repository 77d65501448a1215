"""Archives of classes: one for a java and its jars, kept while they are used."""

import os
from pathlib import Path

from orion.jvm import ClassArchive, Java

JAVA = Java("/usr/bin/java", 17, "17.0.1")


def jar(folder: Path, text: str = "classes") -> Path:
    path = folder / "a.jar"
    path.write_text(text)
    return path


def make(archive: ClassArchive) -> None:
    with archive.making() as (option, *_):
        Path(option.partition("=")[2]).write_text("archived")


def test_a_jvm_is_told_of_an_archive_that_is_there(tmp_path: Path) -> None:
    archive = ClassArchive(tmp_path / "classes", JAVA, [jar(tmp_path)])
    assert archive.options() == ()
    make(archive)
    assert archive.options()[0] == f"-XX:SharedArchiveFile={archive.path}"
    assert list(archive.path.parent.iterdir()) == [archive.path]


def test_a_jvm_that_left_none_leaves_nothing(tmp_path: Path) -> None:
    archive = ClassArchive(tmp_path / "classes", JAVA, [jar(tmp_path)])
    with archive.making():
        pass
    assert not archive.is_there()
    assert list((tmp_path / "classes").iterdir()) == []


def test_jars_that_are_not_there_have_no_archive(tmp_path: Path) -> None:
    assert ClassArchive(tmp_path, JAVA, [tmp_path / "missing.jar"]).options() == ()


def test_another_java_or_jar_has_another_archive(tmp_path: Path) -> None:
    paths = {ClassArchive(tmp_path, JAVA, [jar(tmp_path)]).path}
    paths.add(ClassArchive(tmp_path, JAVA, [jar(tmp_path, "other")]).path)
    newer = Java("/usr/bin/java", 21, "21.0.1")
    paths.add(ClassArchive(tmp_path, newer, [jar(tmp_path, "other")]).path)
    assert len(paths) == 3


def test_those_that_were_used_last_are_kept(tmp_path: Path) -> None:
    made = []
    for number in range(4):
        archive = ClassArchive(tmp_path / "classes", JAVA, [jar(tmp_path, "x" * number)])
        make(archive)
        os.utime(archive.path, (number, number))
        made.append(archive)
    assert made[0].options()
    make(ClassArchive(tmp_path / "classes", JAVA, [jar(tmp_path, "newest")]))
    assert [archive.is_there() for archive in made] == [True, False, True, True]
