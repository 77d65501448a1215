import re
from pathlib import Path

import pytest

from orion.jvm import BUNDLES, JarStore, find_java, read_pins
from orion.model import UnavailableError


def test_every_pin_has_a_bundle_and_a_checksum() -> None:
    pins = read_pins()
    assert {pin.bundle for pin in pins} == set(BUNDLES)
    assert all(re.fullmatch(r"[0-9a-f]{64}", pin.sha256) for pin in pins)


def test_no_bundle_pins_an_artifact_twice() -> None:
    names = [(pin.bundle, pin.group, pin.artifact) for pin in read_pins()]
    assert len(names) == len(set(names))


def test_a_jar_that_is_not_the_pinned_one_is_found(tmp_path: Path) -> None:
    store, pin = JarStore(tmp_path), read_pins()[0]
    assert pin in store.missing()
    store.path(pin).write_bytes(b"not a jar")
    assert pin not in store.missing()
    assert store.damaged() == [pin]


def test_the_class_path_holds_one_bundle_only(tmp_path: Path) -> None:
    store = JarStore(tmp_path)
    kafka = store.class_path("kafka").split(":")
    assert str(tmp_path / "kafka-clients-4.3.1.jar") in kafka
    assert not any("spark" in path for path in kafka)


def test_absent_java_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="none was found at PATH") as caught:
        find_java({"PATH": str(tmp_path)})
    assert "openjdk" in (caught.value.fix or "")


def test_a_java_home_without_java_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match=str(tmp_path)):
        find_java({"JAVA_HOME": str(tmp_path), "PATH": "/usr/bin"})


@pytest.mark.parametrize(
    ("version", "fits"), [("1.8.0_392", False), ("11.0.2", False), ("21.0.1", True)]
)
def test_an_old_java_is_refused(tmp_path: Path, version: str, fits: bool) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024-01-01' >&2\n")
    java.chmod(0o755)
    if fits:
        assert find_java({"JAVA_HOME": str(tmp_path)}).major == 21
        return
    with pytest.raises(UnavailableError, match=version):
        find_java({"JAVA_HOME": str(tmp_path)})
