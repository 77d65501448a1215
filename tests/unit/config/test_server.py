from pathlib import Path

import pytest

from orion.config import OpenDoorError, read_settings


def read(tmp_path: Path, **flags: object) -> object:
    return read_settings(
        tmp_path, environ={}, flags={name.replace("__", "."): v for name, v in flags.items()}
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "10.1.2.3", "::", "example.org"])
def test_an_open_server_without_passwords_is_refused(tmp_path: Path, host: str) -> None:
    with pytest.raises(OpenDoorError) as caught:
        read(tmp_path, server__host=host)
    assert caught.value.host == host
    assert "passwords" in str(caught.value.fix)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_this_machine_may_always_be_bound(tmp_path: Path, host: str) -> None:
    assert read(tmp_path, server__host=host)


def test_passwords_open_the_door(tmp_path: Path) -> None:
    (tmp_path / "orion.toml").write_text(
        '[server]\nhost = "0.0.0.0"\n[server.passwords]\nann = "planted"\n'
    )
    settings = read_settings(tmp_path, environ={})
    assert settings.server.passwords == {"ann": "planted"}
