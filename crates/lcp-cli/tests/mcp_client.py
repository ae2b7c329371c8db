"""A real client against `lcp mcp`: every tool, errors, cancellation, many calls.

Usage: mcp_client.py LCP ROOT STORE OUTSIDE
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

TOOLS = {
    "count",
    "expand",
    "handoff",
    "pack",
    "record_usage",
    "render",
    "resume",
    "should_handoff",
}
CALLS = 1000


def facts_of(result):
    """The facts are the last part; before them, there may be a text."""
    assert result.structured_content is None, result
    *text, facts = [part.text for part in result.content]
    return json.loads(facts) | ({"text": text[0]} if text else {})


async def facts(session, name, **arguments):
    result = await session.call_tool(name, arguments)
    assert not result.is_error, (name, result)
    return facts_of(result)


async def fails(session, code, name, **arguments):
    result = await session.call_tool(name, arguments)
    assert result.is_error, (name, result)
    assert facts_of(result)["code"] == code, (name, result)


async def files(session):
    packed = await facts(session, "pack", paths=["."])
    pack = packed["pack"]
    shown = await facts(session, "render", pack=pack, budget=200)
    assert shown["used_tokens"] <= 200, shown
    lesser = shown["not_in_full"][0]["block"]
    whole, offset = "", 0
    while offset is not None:
        page = await facts(session, "expand", pack=pack, block=lesser, offset=offset, limit=1000)
        whole, offset = whole + page["text"], page["next_offset"]
    assert len(whole.encode()) == page["total_bytes"]
    counted = await facts(session, "count", texts=[shown["text"]])
    assert counted["total"] == shown["used_tokens"], (counted, shown)
    resources = (await session.list_resources()).resources
    assert [str(resource.uri) for resource in resources] == [packed["uri"]]
    read = await session.read_resource(packed["uri"] + "?budget=200")
    assert read.contents[0].text == shown["text"]
    return pack


async def sessions(session):
    messages = [
        {"role": "user", "text": "Never use unwrap in the parser. Fix the parser."},
        {"role": "assistant", "text": "I fixed it. Next: write the tests."},
    ]
    known = await facts(session, "record_usage", conversation="c", messages=messages, window=8000)
    assert known["messages"] == 2 and known["new"], known
    known = await facts(session, "should_handoff", conversation="c")
    assert not known["should_handoff"], known
    assert (await facts(session, "handoff", conversation="c"))["handoff"] is None
    made = (await facts(session, "handoff", conversation="c", force=True))["handoff"]
    resumed = await facts(session, "resume", handoff=made["id"])
    assert "parser" in resumed["text"], resumed
    await fails(session, "already_resumed", "resume", handoff=made["id"])


async def errors(session, outside):
    await fails(session, "refused", "render", pack="../secret.lcp")
    await fails(session, "refused", "count", paths=[outside])
    await fails(session, "refused", "pack", paths=["/"])
    await fails(session, "unknown_pack", "render", pack="0123456789abcdef")
    await fails(session, "usage", "render", pack="x", budge=1)
    await fails(session, "unknown_conversation", "handoff", conversation="nobody")
    try:
        await session.call_tool("nothing", {})
    except Exception as error:
        assert "nothing" in str(error), error
    else:
        raise AssertionError("there is such a tool")


async def cancellation(session):
    text = "a word and another, " * 300_000
    call = asyncio.create_task(session.call_tool("count", {"texts": [text]}))
    await asyncio.sleep(0.05)
    call.cancel()
    try:
        await call
    except asyncio.CancelledError:
        pass
    assert (await facts(session, "count", texts=["a"]))["total"] == 1


async def many(session, pack):
    async def one(number):
        counted = await facts(session, "count", texts=["a " * (number % 50)])
        assert counted["total"] >= number % 50
        if number % 10 == 0:
            shown = await facts(session, "render", pack=pack, budget=100 + number)
            assert shown["used_tokens"] <= 100 + number

    for start in range(0, CALLS, 50):
        await asyncio.gather(*(one(start + number) for number in range(50)))


async def main(lcp, root, store, outside):
    server = StdioServerParameters(command=lcp, args=["mcp", "--root", root, "--store", store])
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools
            assert {tool.name for tool in tools} == TOOLS
            assert all(tool.input_schema and not tool.output_schema for tool in tools)
            pack = await files(session)
            await sessions(session)
            await errors(session, outside)
            await cancellation(session)
            await many(session, pack)
    print("all is well")


asyncio.run(main(*sys.argv[1:]))
