"""A session of the official `mcp` client with `wikiq mcp`, run by that client's own interpreter.

`python official_client.py SETTING.json` with the command, its environment, the index and a spare one. Prints
one JSON object: what was seen. Imports nothing of this project; every line of the server is recorded and
validated against the models that the client brings for each revision of the protocol.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import mcp_types._v2025_11_25 as legacy
import mcp_types._v2026_07_28 as modern
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

RESULTS = {
    "initialize": "InitializeResult",
    "server/discover": "DiscoverResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "ping": "EmptyResult",
}
SLOW: dict[str, Any] = {"query": "slow words of a page", "limit": 50}
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": "cancellation process group"}),
    ("search", {"q": "agent", "sections": "true", "n": "3"}),
    ("read", {"page": "run-lifecycle.md:3"}),
    ("outline", {"page": "run-lifecycle"}),
    ("list", {"kind": "pages"}),
    ("list", {"kind": "topics"}),
    ("list", {"kind": "changes"}),
    ("list", {"kind": "problems"}),
    ("status", {}),
)
WRONG: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read", {"page": "run-lifecicle.md"}),
    ("search", {"query": ""}),
    ("search", {"colour": 1}),
    ("list", {"kind": "songs"}),
    ("search", {"query": "x", "topic": "nowhere"}),
)


def validate(record: Path) -> Counter[str]:
    """Hold every recorded line of the server against the model of its method and revision."""
    asked: dict[Any, dict[str, Any]] = {}
    seen: Counter[str] = Counter()
    for line in record.read_text("utf-8").splitlines():
        way, _, text = line.partition(" ")
        message = json.loads(text)
        if way == ">":
            if "id" in message:
                asked[message["id"]] = message
            continue
        request = asked[message["id"]]
        meta = request.get("params", {}).get("_meta", {})
        revision = modern if "io.modelcontextprotocol/protocolVersion" in meta else legacy
        if "error" in message:
            revision.JSONRPCErrorResponse.model_validate(message)
            seen["error"] += 1
        else:
            revision.JSONRPCResultResponse.model_validate(message)
            getattr(revision, RESULTS[request["method"]]).model_validate(message["result"])
            seen[request["method"]] += 1
    return seen


async def converse(setting: dict[str, Any], mode: str) -> dict[str, Any]:
    """List, call, be refused, cancel, flood, replace the index, kill the server."""
    record = Path(setting["record"] + "-" + mode)
    words = [setting["tee"], str(record), *setting["command"], "--db", setting["db"][mode]]
    server = StdioServerParameters(
        command=sys.executable, args=words, env=setting["environ"], cwd=setting["cwd"]
    )
    told: dict[str, Any] = {}
    async with Client(server, mode=mode, read_timeout_seconds=60) as client:
        told["version"] = client.protocol_version
        told["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        told["calls"] = [(await client.call_tool(*call)).content[0].text for call in CALLS]
        refused = [await client.call_tool(*call) for call in WRONG]
        told["refused"] = [answer.is_error for answer in refused]
        try:
            await client.call_tool("write", {})
        except MCPError as error:
            told["unknown_tool"] = error.error.code
        told["cancelled"] = await cancel(client, record)
        flood = await asyncio.gather(
            *(client.call_tool("search", {"query": f"run {n}"}) for n in range(100)), return_exceptions=True
        )
        told["flood"] = Counter(
            error.error.code if isinstance(error, MCPError) else type(error).__name__ for error in flood
        )
        os.replace(setting["spare"][mode], setting["db"][mode])
        told["replaced"] = (await client.call_tool("list", {"kind": "pages"})).content[0].text
    told["messages"] = validate(record)
    return told


async def cancel(client: Client, record: Path) -> list[bool]:
    """Cancel a running call and one that waits; tell whether each ended, and whether the next one answers."""
    calls = [asyncio.ensure_future(client.call_tool("search", SLOW)) for _ in range(3)]
    for _ in range(2_000):  # until the server has them
        if count_asked(record, str(SLOW["query"])) >= len(calls):
            break
        await asyncio.sleep(0.005)
    for call in calls[:2]:
        call.cancel()
    ended = await asyncio.gather(*calls, return_exceptions=True)
    return [isinstance(one, asyncio.CancelledError) for one in ended[:2]] + [
        not isinstance(ended[2], BaseException)
    ]


def count_asked(record: Path, words: str) -> int:
    """How many requests so far hold these words."""
    return record.read_text("utf-8").count(words)


async def kill_and_restart(setting: dict[str, Any], mode: str) -> bool:
    """Kill the server under a client: the call fails, and a client after it is answered."""
    server = StdioServerParameters(
        command=setting["command"][0],
        args=[*setting["command"][1:], "--db", setting["db"][mode]],
        env=setting["environ"],
        cwd=setting["cwd"],
    )
    before = children()
    try:
        async with Client(server, mode=mode, read_timeout_seconds=60) as client:
            await client.call_tool("status", {})
            for pid in children() - before:
                os.kill(pid, signal.SIGKILL)
            await client.call_tool("status", {})
        return False
    except Exception as error:  # noqa: BLE001 - each release of the client says it in its own way
        print(f"killed: {type(error).__name__}", file=sys.stderr)
    async with Client(server, mode=mode, read_timeout_seconds=60) as client:
        return str((await client.call_tool("status", {})).content[0].text).startswith("Wiki ")


def children() -> set[int]:
    """The processes that this one has started and that are still there."""
    return set(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()))


async def main(setting: dict[str, Any]) -> None:
    """Both ways to connect, one after the other."""
    told: dict[str, Any] = {}
    for mode in ("auto", "legacy"):
        told[mode] = await converse(setting, mode)
        told[mode]["restarted"] = await kill_and_restart(setting, mode)
    print(json.dumps(told))


if __name__ == "__main__":
    asyncio.run(main(json.loads(Path(sys.argv[1]).read_text("utf-8"))))
