"""LlamaIndex."""

import asyncio
import copy
import pickle
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

import tiktoken_files
from llama_index.core.base.llms.types import (
    ChatMessage,
    ImageBlock,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.memory import Memory

import lcp
from lcp.adapters.llama_index import ContextBlock, fit


def history(turns: int) -> list[ChatMessage]:
    messages: list[ChatMessage] = []
    for turn in range(turns):
        call = ToolCallBlock(
            tool_call_id=f"call_{turn}", tool_name="read", tool_kwargs={"path": f"{turn}.txt"}
        )
        messages += [
            ChatMessage(f"What does file {turn} say about the door?", role="user"),
            ChatMessage(role="assistant", blocks=[TextBlock(text="I read it."), call]),
            ChatMessage(
                f"line {turn} of the file\n" * 40,
                role="tool",
                additional_kwargs={"tool_call_id": f"call_{turn}"},
            ),
            ChatMessage(f"It repeats line {turn}.", role="assistant"),
        ]
    return messages


def texts(messages: list[ChatMessage]) -> list[str]:
    result: list[str] = []
    for message in messages:
        for block in message.blocks:
            if isinstance(block, ToolCallBlock):
                result.append(f"{block.tool_name}{block.tool_kwargs}")
            elif isinstance(block, TextBlock):
                result.append(block.text)
    return result


def test_messages_that_fit_are_the_same_objects() -> None:
    given = history(3)
    assert all(a is b for a, b in zip(fit(given, 100_000), given, strict=True))
    image = ChatMessage(
        role="user", blocks=[TextBlock(text="This?"), ImageBlock(url="https://a.b/c")]
    )
    assert fit([*given, image], 100_000)[-1] is image


def test_fitted_messages_stay_within_the_budget_and_in_pairs() -> None:
    given = history(12)
    fitted = fit(given, 900, model="gpt-5")
    assert tiktoken_files.count(texts(fitted)) <= 900
    calls = [it.tool_call_id for m in fitted for it in m.blocks if isinstance(it, ToolCallBlock)]
    results = [m.additional_kwargs["tool_call_id"] for m in fitted if m.role == MessageRole.TOOL]
    assert calls == results != []


def test_memory_returns_what_left_it() -> None:
    async def main() -> None:
        block = ContextBlock(budget=500, model="gpt-5")
        memory = Memory.from_defaults(
            token_limit=1_500,
            chat_history_token_ratio=0.5,
            token_flush_size=300,
            memory_blocks=[block],
            tokenizer_fn=lcp.Encoding(model="gpt-5").encode,
        )
        for message in history(12):
            await memory.aput(message)
        assert len(block.messages) > 10
        content: Any = await block.aget()
        assert tiktoken_files.count(texts(content)) <= 500
        shorter: Any = await block.atruncate(content, 200)
        assert tiktoken_files.count(texts(shorter)) < tiktoken_files.count(texts(content))
        assert await block.atruncate(content, 5_000) is None
        whole = await memory.aget()
        assert whole[-1].content == "It repeats line 11."
        assert any(message in whole for message in content)

    asyncio.run(main())


def test_next_turn_extends_the_messages_of_the_turn_before() -> None:
    async def main() -> None:
        block = ContextBlock(budget=1_500, model="gpt-5", messages=history(12))
        first = await block.aget()
        assert len(first) < len(block.messages)
        # A smaller fit in between is not remembered.
        assert len(await block.atruncate(first, 700) or []) < len(first)
        new = [ChatMessage("Why?", role="user"), ChatMessage("They repeat.", role="assistant")]
        await block.aput(new)
        assert await block.aget() == [*first, *new]
        # Copies work, and remember nothing.
        assert copy.deepcopy(block) == block
        assert await pickle.loads(pickle.dumps(block)).aget() != [*first, *new]

    asyncio.run(main())
