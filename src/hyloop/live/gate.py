"""Who may see the page: the right token, asked for by the right name, from the page itself."""

from collections.abc import Sequence
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["LOOPBACK", "Gate", "authority"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_REFUSED = "Refused. Open the address that hyloop has printed; its token is for one run of the server."


def authority(host: str, port: int) -> str:
    """Host and port as they stand in an address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self' ws://{host}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)


class Gate:
    """Stands before the application: refuses, or lets through and sets the headers that keep a page to itself.

    The token comes once, in the address that was printed, and from then on in a cookie that scripts cannot read. A page
    of another site cannot use it: the name that was asked for must be ours, so that no other name may be led here, and
    so must be the site that asks.

    Parameters
    ----------
    app : ASGI application
    token : str
    hosts : sequence of str
        Names under which it may be asked for.
    port : int
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Sequence[str], port: int) -> None:
        self._app, self._token = app, token.encode()
        self._hosts = frozenset(authority(host, port) for host in hosts)
        self._cookie = f"hyloop-{port}"
        self._headers = {
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        named, http = self._headers_of(scope), scope["type"] == "http"
        ours = self._is_ours(named, must_say=not http)
        if http and ours and scope["path"] == "/" and (given := _query(scope).get("token")):
            await self._greet(given[-1].encode())(scope, receive, self._guarded(send, named))
        elif not ours or not self._knows(named):
            if http:
                await PlainTextResponse(_REFUSED, 403)(scope, receive, self._guarded(send, named))
            else:
                await send({"type": "websocket.close", "code": 1008})  # before it is accepted: 403
        else:
            await self._app(scope, receive, self._guarded(send, named) if http else send)

    @staticmethod
    def _headers_of(scope: Scope) -> dict[bytes, list[bytes]]:
        found: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            found.setdefault(name.lower(), []).append(value)
        return found

    def _is_ours(self, named: dict[bytes, list[bytes]], must_say: bool) -> bool:
        """Whether it is asked for under our name, and not by another site; browsers name it wherever it matters."""
        hosts, origins = named.get(b"host", []), named.get(b"origin", [])
        if len(hosts) != 1 or hosts[0].decode("latin-1").lower() not in self._hosts:
            return False
        if not origins:
            return not must_say
        return len(origins) == 1 and origins[0].decode("latin-1").lower().removeprefix("http://") in self._hosts

    def _knows(self, named: dict[bytes, list[bytes]]) -> bool:
        try:
            found = SimpleCookie(b"; ".join(named.get(b"cookie", [])).decode("latin-1")).get(self._cookie)
        except CookieError:
            return False
        return found is not None and self._is_token(found.value.encode("utf-8", "replace"))

    def _is_token(self, given: bytes) -> bool:
        return compare_digest(given, self._token)

    def _greet(self, given: bytes) -> ASGIApp:
        """Turn the token of the address into a cookie, and the address into one without it."""
        if not self._is_token(given):
            return PlainTextResponse(_REFUSED, 403)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self._cookie, self._token.decode(), httponly=True, samesite="lax", path="/")
        return answer

    def _guarded(self, send: Send, named: dict[bytes, list[bytes]]) -> Send:
        """Answers with the headers; a page may speak to the server it came from, and to nobody else."""
        asked = named.get(b"host", [b""])[0].decode("latin-1").lower()
        policy = _POLICY.format(host=asked if asked in self._hosts else "invalid")
        headers = {"Content-Security-Policy": policy, **self._headers}

        async def guarded(said: Message) -> None:
            if said["type"] == "http.response.start":
                own: list[Any] = [(k.lower().encode(), v.encode()) for k, v in headers.items()]
                said = {**said, "headers": [*said.get("headers", []), *own]}
            await send(said)

        return guarded


def _query(scope: Scope) -> dict[str, list[str]]:
    return parse_qs(scope["query_string"].decode("latin-1"), errors="replace")
