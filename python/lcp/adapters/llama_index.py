"""LlamaIndex: ``pip install llm-context-pack[llama-index]``.

``ContextBlock`` is a memory block: it keeps the messages that leave the short-term memory, and
returns as much of them as fits a budget::

    Memory.from_defaults(
        token_limit=40_000,
        memory_blocks=[ContextBlock(budget=8_000, model="gpt-5")],
        tokenizer_fn=lcp.Encoding(model="gpt-5").encode,
    )
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.memory import BaseMemoryBlock
from pydantic import Field, PrivateAttr

from .._lcp import Encoding
from ._fit import IMAGE, Fitter


class ContextBlock(BaseMemoryBlock[list[ChatMessage]]):
    """The messages that left the short-term memory, within a budget of tokens."""

    name: str = Field(default="context", description="The name of the memory block.")
    priority: int = Field(default=1, description="The priority of this memory block.")
    budget: int = Field(gt=0, lt=2**32, description="The maximum number of tokens.")
    model: str | None = Field(default=None, description="The model that gives the tokenizer.")
    messages: list[ChatMessage] = Field(
        default_factory=list[ChatMessage], description="All messages."
    )
    _fitter: Fitter = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Create the fitter."""
        self._fitter = Fitter(self.model)

    async def _aget(
        self, messages: list[ChatMessage] | None = None, **block_kwargs: Any
    ) -> list[ChatMessage]:
        if self._fitter.model != self.model:
            self._fitter = Fitter(self.model)
        return await asyncio.to_thread(_fit, self.messages, self.budget, self._fitter)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        self.messages.extend(messages)

    async def atruncate(
        self, content: list[ChatMessage], tokens_to_truncate: int
    ) -> list[ChatMessage] | None:
        """Return the messages with fewer tokens, or ``None`` if nothing fits."""
        used = await asyncio.to_thread(_count, content, self.model)
        budget = min(used, self.budget) - tokens_to_truncate
        if budget <= 0:
            return None
        # The next turn has the complete budget again, so this fit is not remembered.
        fitted = await asyncio.to_thread(fit, self.messages, budget, model=self.model)
        return fitted or None


def fit(
    messages: Sequence[ChatMessage],
    budget: int,
    *,
    model: str | None = None,
    encoding: str | None = None,
) -> list[ChatMessage]:
    """Fit messages into a budget of tokens. Unchanged messages are the same objects."""
    return _fit(messages, budget, Fitter(model, encoding))


def _fit(messages: Sequence[ChatMessage], budget: int, fitter: Fitter) -> list[ChatMessage]:
    result: list[ChatMessage] = []
    for fitted in fitter.fit([_to_openai(it) for it in messages], budget):
        if fitted.is_unchanged and fitted.origin is not None:
            result.append(messages[fitted.origin])
            continue
        original = None if fitted.origin is None else messages[fitted.origin]
        result.append(_from_openai(fitted.message, original))
    return result


def _count(messages: Sequence[ChatMessage], model: str | None) -> int:
    texts = [json.dumps(_to_openai(message)) for message in messages]
    return sum(Encoding(model=model).count_batch(texts))


def _to_openai(message: ChatMessage) -> dict[str, Any]:
    """Convert a message into one of OpenAI. Blocks other than texts and calls are images."""
    parts: list[dict[str, Any]] = []
    calls: list[Any] = list(message.additional_kwargs.get("tool_calls") or [])
    for block in message.blocks:
        if isinstance(block, TextBlock):
            parts.append({"type": "text", "text": block.text})
        elif isinstance(block, ThinkingBlock):
            parts.append(_thinking(block))
        elif isinstance(block, ToolCallBlock):
            arguments = block.tool_kwargs
            if not isinstance(arguments, str):
                arguments = json.dumps(arguments, ensure_ascii=False)
            function = {"name": block.tool_name, "arguments": arguments}
            calls.append({"id": block.tool_call_id, "type": "function", "function": function})
        else:
            parts.append(IMAGE)
    is_text = len(parts) == 1 and parts[0]["type"] == "text"
    content = parts[0]["text"] if is_text else parts or None
    if message.role in (MessageRole.TOOL, MessageRole.FUNCTION):
        call = message.additional_kwargs.get("tool_call_id")
        return {"role": "tool", "tool_call_id": call, "content": content or ""}
    role = {"chatbot": "assistant", "model": "assistant", "developer": "system"}
    name = role.get(message.role.value, message.role.value)
    openai: dict[str, Any] = {"role": name, "content": content}
    return {**openai, "tool_calls": calls} if calls else openai


def _thinking(block: ThinkingBlock) -> dict[str, Any]:
    """Convert thinking into a part that is shown unchanged or omitted."""
    return {"type": "thinking", "thinking": block.content or ""}


def _from_openai(message: dict[str, Any], original: ChatMessage | None) -> ChatMessage:
    """Convert a shortened message, with the other fields of its original."""
    content: Any = message.get("content") or ""
    is_text = isinstance(content, str)
    parts: list[dict[str, Any]] = [{"text": content}] if is_text else content
    texts = [part.get("text") for part in parts]
    thinking = [it for it in original.blocks if isinstance(it, ThinkingBlock)] if original else []
    blocks: list[Any] = [it for it in thinking if _thinking(it) in parts]
    blocks += [TextBlock(text=text) for text in texts if text]
    calls: list[dict[str, Any]] = message.get("tool_calls") or []
    blocks += [
        ToolCallBlock(
            tool_call_id=call["id"],
            tool_name=call["function"]["name"],
            tool_kwargs=call["function"]["arguments"],
        )
        for call in calls
    ]
    if original is None:
        return ChatMessage(role=message["role"], blocks=blocks)
    others = {key: it for key, it in original.additional_kwargs.items() if key != "tool_calls"}
    return ChatMessage(role=original.role, blocks=blocks, additional_kwargs=others)
