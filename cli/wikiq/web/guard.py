"""Who may ask the viewer, decided on the head of a request alone; pure.

A page of another site, a name that was pointed at this machine, another program that found the port:
each is refused before anything is read. Nothing here looks at what is asked.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

from indexerd.contract.record import Record

LARGEST_REQUEST = 64 * 1024  # bytes of head and body; the longest honest question has 2 KB
TOKEN_FIELD = "token"  # noqa: S105 - the name of the parameter in the printed address
OPEN_PATH = "/open"
LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
_READING = frozenset({"GET", "HEAD"})
_OWN_SITE = frozenset({"same-origin", "none"})

# What a browser may do with an answer: our own scripts, styles and pictures, in no frame, nothing else.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PICTURE_POLICY = "default-src 'none'; sandbox"  # an SVG that is opened by itself runs nothing
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Head(Record):
    """The head of a request. `headers` by name in lower case, `query` as it was sent, `size` in bytes."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    size: int


class Refusal(Record):
    """Why a request is not answered: a status and one line for whoever reads it."""

    status: int
    problem: str
    remedy: str


class Entrance(Record):
    """The printed address was opened: where it leads without the token, and the cookie that stands for it."""

    location: str
    cookie: str


class Guard:
    """The rules of one server: its port, its token, the names it goes by, whether it opens an editor."""

    def __init__(
        self, *, port: int, token: str, names: tuple[str, ...] = (), opens_editor: bool = False
    ) -> None:
        self._token = token
        self._opens_editor = opens_editor
        self._cookie = f"wikiq-{port}"  # cookies know no ports: two viewers must not put each other out
        hosts = {f"{name.lower()}:{port}" for name in (*LOCAL_NAMES, *names)}
        if port == 80:  # the default, which browsers leave out
            hosts |= {name.lower() for name in (*LOCAL_NAMES, *names)}
        self._hosts = frozenset(hosts)
        self._origins = frozenset(f"http://{host}" for host in hosts)

    def judge(self, head: Head) -> Refusal | Entrance | None:
        """Refuse a request, let somebody in by the printed address, or (None) let it be answered."""
        headers = head.headers
        if headers.get("host", "").lower() not in self._hosts:
            return Refusal(status=421, problem="this server does not go by that name", remedy="use localhost")
        site, origin = headers.get("sec-fetch-site", "none"), headers.get("origin")
        if site not in _OWN_SITE or (origin is not None and origin not in self._origins):
            return Refusal(
                status=403, problem="asked from another site", remedy="open the address in a tab of its own"
            )
        is_opening = self._opens_editor and head.method == "POST" and head.path == OPEN_PATH
        if head.method not in _READING and not is_opening:
            return Refusal(status=405, problem="nothing can be changed here", remedy="ask with GET")
        if head.size > LARGEST_REQUEST:
            return Refusal(
                status=413, problem=f"longer than {LARGEST_REQUEST} bytes", remedy="ask for less at once"
            )
        entrance = self._entrance(head)
        if entrance is not None:
            return entrance
        if not self._holds_token(headers.get("cookie", "")):
            remedy = "open the address that `wikiq serve` printed"
            return Refusal(status=401, problem="the token is missing", remedy=remedy)
        return None

    def _entrance(self, head: Head) -> Entrance | None:
        """Take the right token out of an address; a wrong one lets nobody in."""
        fields = parse_qsl(head.query, keep_blank_values=True)
        given = [value for name, value in fields if name == TOKEN_FIELD]
        if not given or not self._is_token(given[0]):
            return None
        rest = urlencode([field for field in fields if field[0] != TOKEN_FIELD])
        path = "/" + head.path.lstrip("/")  # `//name` would lead to another machine
        cookie = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
        return Entrance(location=f"{path}?{rest}" if rest else path, cookie=cookie)

    def _holds_token(self, cookies: str) -> bool:
        pairs = (part.strip().partition("=") for part in cookies.split(";"))
        return any(name == self._cookie and self._is_token(value) for name, _, value in pairs)

    def _is_token(self, value: str) -> bool:
        return hmac.compare_digest(value.encode("utf-8", "replace"), self._token.encode())
