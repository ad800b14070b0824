"""The read-only HTTP server of the pages. The pages load nothing from other servers."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import json
import signal
import socket
from collections.abc import AsyncIterator, Callable
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from elolab.arena.watching.followed import FollowedRun, WatchedRuns
from elolab.arena.watching.page import ASSETS, asset_text, run_page, runs_page
from elolab.engine.errors import UserError, argument
from elolab.engine.language import LANGUAGES

GRACE_SECONDS = 1
"""Time in seconds after Ctrl-C in which running responses may be completed."""
MAX_QUERY = 500
"""Maximum length of a query for games, in characters; longer queries are cut off."""
MAX_NAME = 200
"""Maximum length of the name of a game or player in a URL, in characters; longer names are cut off."""
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


def application(runs: WatchedRuns, language: str, host: str) -> ASGIApp:
    """Create the web application for ``runs``. ``language`` is the default language of pages.

    ``host`` is the host name in the server's address; requests may use it in addition to this machine's own names.
    """
    routes = _Routes(runs, language)
    return _Guard(Starlette(routes=routes.table(), lifespan=routes.lifespan), host)


class _Guard:
    """Rejects requests other than GET and HEAD, and requests for a host name that is not this machine's own.

    Without the check of host names, a page of another site could map its own host name to this machine and read the
    runs (DNS rebinding). Numeric addresses are allowed, because the attack is impossible with them.
    """

    def __init__(self, inner: ASGIApp, host: str) -> None:
        self._inner = inner
        self._names = {"localhost", host.lower(), socket.gethostname().lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if not self._is_ours(headers.get(b"host", b"").decode("latin-1")):
            await PlainTextResponse("not a name of this machine\n", 421)(scope, receive, send)
        elif scope["method"] not in ("GET", "HEAD"):
            refusal = PlainTextResponse("this server is read-only\n", 405, {"allow": "GET, HEAD"})
            await refusal(scope, receive, send)
        else:
            await self._inner(scope, receive, send)

    def _is_ours(self, host: str) -> bool:
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name.lower() in self._names
        return True


class _Routes:
    """The handlers of all requests. ``language`` is the default language of pages."""

    def __init__(self, runs: WatchedRuns, language: str) -> None:
        self._runs, self._language = runs, language

    def table(self) -> list[Route]:
        """The routes of all requests."""
        return [
            Route("/", self.first),
            Route("/runs", self.list),
            Route("/assets/{name}", self.asset),
            Route("/run/{run}/", self.page),
            Route("/run/{run}/events", self.events),
            Route("/run/{run}/figures", self.figures),
            *(Route(f"/run/{{run}}/{name}", self.table_page) for name in ("games", "openings", "engines")),
            Route("/run/{run}/dialogue", self.dialogue),
            Route("/run/{run}/game", self.game),
        ]

    @contextlib.asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """A context that stops following the runs at the end of the server."""
        try:
            yield
        finally:
            await self._runs.close()

    def _language_of(self, request: Request) -> str:
        asked = request.query_params.get("language", self._language)
        return asked if asked in LANGUAGES else self._language

    async def _run_of(self, request: Request) -> FollowedRun:
        run = await run_in_threadpool(self._runs.run, request.path_params["run"])
        if run is None:
            raise HTTPException(404)
        return run

    async def first(self, request: Request) -> Response:
        """Redirect to the page of the run to show first, or to the list of runs if there is none."""
        name = await run_in_threadpool(self._runs.chosen)
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"/runs{query}" if name is None else f"/run/{name}/{query}", headers=HEADERS)

    async def list(self, request: Request) -> Response:
        """Respond with the list of runs."""
        language = self._language_of(request)
        entries = await run_in_threadpool(self._runs.entries, language)
        text = await run_in_threadpool(runs_page, entries, self._runs.root, language)
        return HTMLResponse(text, headers=HEADERS)

    async def asset(self, request: Request) -> Response:
        """Respond with a script of ``page.ASSETS``; status 404 for an unknown name."""
        name = request.path_params["name"]
        if name not in ASSETS:
            raise HTTPException(404)
        return Response(asset_text(name), media_type="text/javascript", headers=HEADERS)

    async def page(self, request: Request) -> Response:
        """Respond with the page of a run."""
        run, language = await self._run_of(request), self._language_of(request)
        state, has_list = await run.state(), not self._runs.is_single
        text = await run_in_threadpool(lambda: run_page(state, language, has_list=has_list))
        return HTMLResponse(text, headers=HEADERS)

    async def events(self, request: Request) -> Response:
        """Stream the state of a run and then its changes. A viewer that reconnects gets the whole state again."""
        run, language = await self._run_of(request), self._language_of(request)
        all_boards = request.query_params.get("boards") == "all"

        async def lines() -> AsyncIterator[str]:
            number = 0
            async with contextlib.aclosing(run.events(language, all_boards=all_boards)) as events:
                async for event in events:
                    if event is None:
                        yield ": nothing new\n\n"
                        continue
                    kind = "changes" if number else "state"
                    yield f"id: {number}\nevent: {kind}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n"
                    number += 1

        return StreamingResponse(lines(), media_type="text/event-stream", headers=HEADERS)

    async def figures(self, request: Request) -> Response:
        """Respond with the latest plots and tables of a run as JSON; for a tournament its ranking or crosstable."""
        run = await self._run_of(request)
        found = await run_in_threadpool(run.figures, self._language_of(request))
        return JSONResponse(found, headers=HEADERS)

    async def table_page(self, request: Request) -> Response:
        """Respond with rows of a table as JSON, from index ``from``, sorted by ``sort``; ``query`` selects games.

        The status is 400 for an invalid index.
        """
        run, query = await self._run_of(request), request.query_params
        first, name = query.get("from", "0"), request.url.path.rpartition("/")[2]
        if not (first.isascii() and first.isdigit() and len(first) < 10):
            raise HTTPException(400)
        words, sort, is_descending = query.get("query", ""), query.get("sort", ""), query.get("descending") == "1"
        language = self._language_of(request)
        found = await run_in_threadpool(
            lambda: run.table(name, words[:MAX_QUERY], int(first), sort, language, descending=is_descending)
        )
        return JSONResponse(found, headers=HEADERS)

    async def dialogue(self, request: Request) -> Response:
        """Respond with the last lines exchanged with the players of the running game named ``game``, as JSON."""
        run = await self._run_of(request)
        return JSONResponse(await run.dialogue(request.query_params.get("game", "")[:MAX_NAME]), headers=HEADERS)

    async def game(self, request: Request) -> Response:
        """Respond with a stored game as JSON, found by its ``key``, or by its name on pages (``number``).

        The status is 404 for an unknown game, and 503 if the store cannot be read.
        """
        run, query = await self._run_of(request), request.query_params
        key = query.get("key") or run.key_of(query.get("number", "")[:MAX_NAME]) or ""
        try:
            found = await run.game(key[:MAX_NAME], self._language_of(request))
        except UserError as error:
            return PlainTextResponse(str(error), 503, HEADERS)
        if found is None:
            raise HTTPException(404)
        return JSONResponse(found, headers=HEADERS)


def opened_socket(host: str, port: int) -> socket.socket:
    """Open a socket that listens on a host and port; raises ``UserError`` if that fails."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            remedy = f"give another port with {argument('port')} (0 selects any free port)"
            raise UserError(f"watch: port {port} of {host} is in use", remedy) from None
        remedy = f"give another with {argument('port' if error.errno == errno.EACCES else 'host')}"
        raise UserError(f"watch: {host}, port {port}: {error.strerror or error}", remedy) from None
    except (OverflowError, UnicodeError):
        raise UserError(
            f"watch: {host}, port {port}: no such address",
            f"give another with {argument('host')} and {argument('port')}",
        ) from None


class _Server(uvicorn.Server):
    """A server that disconnects all viewers when a signal stops it, instead of waiting for them."""

    def __init__(self, config: uvicorn.Config, ending: Callable[[], Any]) -> None:
        super().__init__(config)
        self._ending = ending

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Disconnect all viewers on Ctrl-C or SIGTERM, then stop the server."""
        asyncio.get_running_loop().create_task(self._ending())
        super().handle_exit(sig, frame)


def serve(runs: WatchedRuns, listening: socket.socket, language: str, host: str) -> None:
    """Serve the pages of ``runs`` on a socket until SIGTERM or Ctrl-C, which raises ``KeyboardInterrupt``.

    ``language`` and ``host`` are as for ``application``.
    """
    config = uvicorn.Config(
        application(runs, language, host), log_level="critical", access_log=False, ws="none", server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )  # fmt: skip
    before = signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn raises it again at its end
    try:
        _Server(config, runs.close).run(sockets=[listening])
    finally:
        signal.signal(signal.SIGTERM, before)
        listening.close()


def address_of(listening: socket.socket, host: str) -> str:
    """The URL of the first page. ``host`` is the name or address that the user gave.

    For a wildcard address such as ``0.0.0.0``, the URL contains this machine's address in its network.
    """
    shown = _own_address(listening) if host in ("", "0.0.0.0", "::") else host
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{listening.getsockname()[1]}/"


def _own_address(listening: socket.socket) -> str:
    """This machine's address in its network; the loopback address if it has none."""
    is_ipv6 = listening.family == socket.AF_INET6
    # Addresses on other networks, which no machine has: they are reserved for documentation (RFC 3849 and RFC 5737).
    elsewhere, loopback = ("2001:db8::1", "::1") if is_ipv6 else ("192.0.2.1", "127.0.0.1")
    try:
        with socket.socket(listening.family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))  # sends nothing; only chooses a route
            return str(probe.getsockname()[0])
    except OSError:
        return loopback
