"""One session of the official SDK: lists the tools, makes the calls that stdin names, writes the texts of the answers to stdout.

    sdk_session.py BINARY PROJECT CACHE < calls.json
"""

import json
import os
import sys

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def main():
    binary, project, cache = sys.argv[1:]
    calls = json.load(sys.stdin)
    server = StdioServerParameters(command=binary, args=["mcp"], cwd=project, env={**os.environ, "COGRAPH_CACHE_DIR": cache})
    answers = []

    def text(result):
        return "\n".join(part.text for part in result.content if part.type == "text")

    async with Client(stdio_client(server)) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        # A server that has not seen the repository says how far it is; it waits itself before it answers.
        while "is being indexed" in text(await client.call_tool("overview", {})):
            pass
        for call in calls:
            if call["tool"] not in tools:
                sys.exit(f"the server has no tool {call['tool']}")
            result = await client.call_tool(call["tool"], call["arguments"])
            answers.append(text(result))
    json.dump(answers, sys.stdout)


anyio.run(main)
