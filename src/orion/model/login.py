"""A user and a password inside an address, as HTTP wants them."""

import base64
from urllib.parse import quote, unquote, urlsplit, urlunsplit


def split_login(url: str) -> tuple[str, dict[str, str]]:
    """Return an address without its user, and the header that logs that user in.

    >>> split_login("http://ann:secret@localhost:8081/x")
    ('http://localhost:8081/x', {'Authorization': 'Basic YW5uOnNlY3JldA=='})
    """
    parts = urlsplit(url)
    if not parts.username:
        return url, {}
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2])
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    token = base64.b64encode(pair.encode()).decode()
    return urlunsplit(bare), {"Authorization": f"Basic {token}"}


def join_login(url: str, user: str, password: str) -> str:
    """Return an address with a user in it.

    >>> join_login("http://localhost:8081", "ann", "a@b")
    'http://ann:a%40b@localhost:8081'
    """
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{quote(user, safe='')}:{quote(password, safe='')}@{rest}"
