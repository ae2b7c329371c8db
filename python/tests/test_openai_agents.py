"""OpenAI Agents SDK."""

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("agents")

import tiktoken_files
from agents import Agent, Model, ModelResponse, RunConfig, Runner, SQLiteSession, Usage
from agents import Session as SessionProtocol
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from lcp.adapters.openai_agents import Session, input_filter


def history(turns: int) -> list[Any]:
    items: list[Any] = []
    for turn in range(turns):
        items += [
            {"role": "user", "content": f"What does file {turn} say about the door?"},
            {
                "type": "function_call",
                "call_id": f"call_{turn}",
                "name": "read",
                "arguments": json.dumps({"path": f"{turn}.txt"}),
            },
            {
                "type": "function_call_output",
                "call_id": f"call_{turn}",
                "output": f"line {turn} of the file\n" * 40,
            },
            {"role": "assistant", "content": f"It repeats line {turn}."},
        ]
    return items


def count(items: list[Any]) -> int:
    keys = ("content", "output", "name", "arguments")
    return tiktoken_files.count([str(item[key]) for item in items for key in keys if key in item])


class FakeModel(Model):
    """A model that answers with a fixed text, and remembers what it was sent."""

    def __init__(self) -> None:
        self.sent: list[list[Any]] = []

    async def get_response(
        self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any
    ) -> ModelResponse:
        self.sent.append(list(input))
        text = ResponseOutputText(text="They repeat.", type="output_text", annotations=[])
        message = ResponseOutputMessage(
            id="m", content=[text], role="assistant", status="completed", type="message"
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("no test streams")


def test_session_returns_items_within_the_budget() -> None:
    async def main() -> None:
        inner = SQLiteSession("door")
        session = Session(inner, 900, model="gpt-5")
        assert isinstance(session, SessionProtocol)
        assert await session.get_items() == []
        await session.add_items(history(12))
        items: Any = await session.get_items()
        assert count(items) <= 900
        calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
        outputs = [it["call_id"] for it in items if it.get("type") == "function_call_output"]
        assert calls == outputs != []
        assert items[-1] == history(12)[-1]
        assert await session.get_items(2) == history(12)[-1:]
        assert len(await inner.get_items()) == 48
        assert await session.pop_item() == history(12)[-1]
        await session.clear_session()
        assert await session.get_items() == []

    asyncio.run(main())


def test_runs_send_what_fits() -> None:
    async def main() -> None:
        fake = FakeModel()
        agent = Agent("a", model=fake)
        session = Session(SQLiteSession("door"), 900)
        await session.add_items(history(12))
        await Runner.run(agent, "And now?", session=session)
        assert count(fake.sent[0]) <= 1_000
        config = RunConfig(call_model_input_filter=input_filter(500), tracing_disabled=True)
        question: Any = {"role": "user", "content": "So?"}
        await Runner.run(agent, [*history(12), question], run_config=config)
        assert count(fake.sent[1]) <= 500
        assert fake.sent[1][-1] == question

    asyncio.run(main())


def test_next_turn_extends_the_items_of_the_turn_before() -> None:
    async def main() -> None:
        inner = SQLiteSession("door")
        session = Session(inner, 1_500, model="gpt-5")
        await inner.add_items(history(12))
        first = await session.get_items()
        assert count(first) < count(history(12))
        new: list[Any] = [
            {"role": "user", "content": "And why?"},
            {"role": "assistant", "content": "They repeat."},
        ]
        await inner.add_items(new)
        assert await session.get_items() == [*first, *new]

    asyncio.run(main())
