"""Pull queries on the short way: most clients ask for rows by key, over and over."""

import orjson
from starlette.concurrency import run_in_threadpool

from orion.model import OrionError
from orion.serve.lane import Answer, Post
from orion.serve.sql.endpoint import SqlApi, one_statement
from orion.serve.sql.pull import Form
from orion.serve.sql.request import BadRequestError, SqlRequest, describe_error
from orion.sql import tree


class ShortPull:
    """Answers pull queries; everything else goes the long way."""

    paths = frozenset(("/query", "/query-stream"))

    def __init__(self, api: SqlApi) -> None:
        self._api = api

    def answer_now(self, post: Post) -> Answer | None:
        """Answer a look-up whose kind and whose table are known."""
        given = _read(post)
        return None if given is None else self._api.pulls.look_up(given, _form(post))

    async def answer(self, post: Post) -> Answer | None:
        """Answer any other pull query, and what is wrong with one."""
        given, form = _read(post), _form(post)
        if given is None:
            return None
        try:
            statement = await run_in_threadpool(one_statement, given)
            if not isinstance(statement, tree.SelectStatement) or not statement.query.is_pull:
                return None
            return await run_in_threadpool(self._api.pulls.answer, given, statement, form)
        except OrionError as error:
            status, body = describe_error(error)
            return Answer(status, form.json_type, orjson.dumps(body))


def _form(post: Post) -> Form:
    return Form(post.accept, older=post.path == "/query")


def _read(post: Post) -> SqlRequest | None:
    """Return the request; None where its body is not one, which the long way explains."""
    older = post.path == "/query"
    word, properties = ("ksql", "streamsProperties") if older else ("sql", "properties")
    try:
        return SqlRequest.read(orjson.loads(post.body), word=word, properties=properties)
    except (ValueError, BadRequestError):
        return None
