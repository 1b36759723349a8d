"""Let an agent read runs: an MCP server over stdio.

It offers the tools list, explain, query and evidence to the agent that starts it, over standard input and output.

It only reads the runs on this machine, or the one that is named, and asks no cloud.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from plimsoll.cli.screen import Screen
from plimsoll.distribution import MCP
from plimsoll.reports.printable import printable

if TYPE_CHECKING:
    from mcp.server import Server

    from plimsoll.serving.agent_tools import ReadableRuns

_LISTED: Final = ("Read a run", 6)


def mcp_command(
    run: Annotated[Path | None, typer.Argument(help="A run's folder. Default: all runs, the newest first.")] = None,
) -> None:
    MCP.need()

    import anyio
    from mcp.server.stdio import stdio_server

    from plimsoll.api.runs import find_run
    from plimsoll.serving.agent_tools import ReadableRuns

    server = _make_server(ReadableRuns(only=None if run is None else find_run(run)))

    async def serve() -> None:
        async with stdio_server() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())

    if sys.stdin.isatty():
        sentence = "An agent starts this and speaks JSON on its input (docs/results-as-data.md). End it with Ctrl-D."
        Screen(stderr=True).say(sentence, "dim")
    anyio.run(serve)


def _make_server(runs: ReadableRuns) -> Server:
    """A server that offers the tools, and answers one call after the other."""
    import json
    from functools import partial

    import mcp_types
    from anyio import CapacityLimiter, to_thread
    from mcp.server import Server

    from plimsoll import __version__
    from plimsoll.model.errors import PlimsollError
    from plimsoll.serving.agent_tools import NOT_INSTRUCTIONS, answer_tool, offered_tools

    one_by_one = CapacityLimiter(1)

    async def list_tools(_context: object, _asked: object) -> mcp_types.ListToolsResult:
        read_only = mcp_types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
        tools = [
            mcp_types.Tool(
                name=tool.name,
                title=tool.title,
                description=tool.description,
                input_schema=tool.arguments.model_json_schema(),
                annotations=read_only,
            )
            for tool in offered_tools()
        ]
        return mcp_types.ListToolsResult(tools=tools)

    async def call_tool(_context: object, asked: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        call = partial(answer_tool, runs, asked.name, asked.arguments or {})
        try:
            answer = await to_thread.run_sync(call, limiter=one_by_one)
        except (PlimsollError, OSError) as error:
            content = mcp_types.TextContent(text=printable(str(error)))
            return mcp_types.CallToolResult(content=[content], is_error=True)
        content = mcp_types.TextContent(text=json.dumps(answer, ensure_ascii=False))
        return mcp_types.CallToolResult(content=[content], structured_content=answer)

    return Server(
        "plimsoll",
        title="Plimsoll",
        version=__version__,
        instructions=f"Plimsoll's audits of cloud block storage, read only: what each volume should be, and why. "
        f"{NOT_INSTRUCTIONS} Changes are made by people.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
