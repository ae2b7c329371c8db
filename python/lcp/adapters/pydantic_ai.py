"""Pydantic AI: ``pip install llm-context-pack[pydantic-ai]``.

``history_processor`` fits the history into a budget before each request to the model::

    Agent("openai:gpt-5", capabilities=[ProcessHistory(history_processor(100_000))])

Versions before 2 have the argument ``history_processors=[history_processor(100_000)]`` instead.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from pydantic_ai.messages import (
    BaseToolCallPart,
    BaseToolReturnPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    UserPromptPart,
)

from .._arguments import tokens
from ._fit import IMAGE, FittedMessage, Fitter


def history_processor(
    budget: int, *, model: str | None = None, encoding: str | None = None
) -> Callable[[list[ModelMessage]], list[ModelMessage]]:
    """Return a history processor that keeps messages within a budget of tokens.

    Instructions and tool definitions are not messages: subtract their tokens from the budget.
    While the next turn fits, the messages of the previous turn stay as they are, so the provider
    can reuse its cache.
    """
    budget = tokens("budget", budget, 1)
    fitter = Fitter(model, encoding)

    def process(messages: list[ModelMessage]) -> list[ModelMessage]:
        return _fit(messages, budget, fitter)

    return process


def fit(
    messages: Sequence[ModelMessage],
    budget: int,
    *,
    model: str | None = None,
    encoding: str | None = None,
) -> list[ModelMessage]:
    """Fit messages into a budget of tokens. Unchanged messages are the same objects."""
    return _fit(messages, budget, Fitter(model, encoding))


def _fit(messages: Sequence[ModelMessage], budget: int, fitter: Fitter) -> list[ModelMessage]:
    converted: list[dict[str, Any]] = []
    # The message of each converted one, and its part of a request.
    places: list[tuple[int, int]] = []
    # The messages that no message of OpenAI contains. They are kept.
    result: list[tuple[int, ModelMessage]] = []
    for at, message in enumerate(messages):
        if isinstance(message, ModelResponse):
            parts = [(0, _response(message))]
        else:
            parts = [
                (part_at, request)
                for part_at, part in enumerate(message.parts)
                if (request := _request_part(part))
            ]
        converted += [part for _, part in parts]
        places += [(at, part_at) for part_at, _ in parts]
        if not parts:
            result.append((at, message))

    def place(fitted: FittedMessage) -> int | None:
        return None if fitted.origin is None else places[fitted.origin][0]

    before = 0
    for origin, group in groupby(fitter.fit(converted, budget), place):
        if origin is None:
            result += [(before, _new(fitted.message)) for fitted in group]
            continue
        before, message = origin, messages[origin]
        if isinstance(message, ModelResponse):
            result += [(origin, _with_answer(message, fitted)) for fitted in group]
        else:
            parts_left = {places[it.origin][1]: it for it in group if it.origin is not None}
            result.append((origin, _with_parts(message, parts_left)))
    return [message for _, message in sorted(result, key=lambda row: row[0])]


def _with_parts(request: ModelRequest, fitted: dict[int, FittedMessage]) -> ModelRequest:
    """Return a request with these parts, and those that no message of OpenAI contains."""
    parts: list[Any] = []
    for at, part in enumerate(request.parts):
        if at in fitted:
            parts.append(part if fitted[at].is_unchanged else _shortened(part, fitted[at]))
        elif _request_part(part) is None:
            parts.append(part)
    is_same = len(parts) == len(request.parts) and all(it.is_unchanged for it in fitted.values())
    return request if is_same else dataclasses.replace(request, parts=parts)


def _shortened(part: Any, fitted: FittedMessage) -> Any:
    """Return a part of a request with the remaining text."""
    return dataclasses.replace(part, content="\n".join(_texts(fitted.message)))


def _with_answer(response: ModelResponse, fitted: FittedMessage) -> ModelResponse:
    """Return a response with the remaining texts and calls."""
    if fitted.is_unchanged:
        return response
    left: list[dict[str, Any]] = fitted.message.get("tool_calls") or []
    calls: dict[str, dict[str, str]] = {call["id"]: call["function"] for call in left}
    content: Any = fitted.message.get("content")
    texts: list[Any] = [TextPart(text) for text in _texts(fitted.message)]
    parts: list[Any] = []
    for part in response.parts:
        if isinstance(part, TextPart):
            parts += texts
            texts = []
        elif isinstance(part, ThinkingPart):
            if isinstance(content, list) and _thinking(part) in content:
                parts.append(part)
        elif isinstance(part, BaseToolCallPart) and part.tool_call_id in calls:
            arguments = calls[part.tool_call_id]["arguments"]
            is_same = json.loads(arguments) == json.loads(part.args_as_json_str())
            parts.append(part if is_same else dataclasses.replace(part, args=arguments))
    return dataclasses.replace(response, parts=[*texts, *parts])


def _thinking(part: ThinkingPart) -> dict[str, Any]:
    """Convert thinking into a part that is shown unchanged or omitted."""
    return {"type": "thinking", "thinking": part.content, "signature": part.signature or ""}


def _request_part(part: Any) -> dict[str, Any] | None:
    """Convert a part of a request, or return ``None`` if no message contains it."""
    if isinstance(part, SystemPromptPart):
        return {"role": "system", "content": part.content}
    if isinstance(part, UserPromptPart):
        return {"role": "user", "content": _user_content(part.content)}
    if isinstance(part, BaseToolReturnPart):
        content = part.model_response_str()
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": content}
    if hasattr(part, "model_response"):
        # A request to try again: the answer to a call, or a message.
        if getattr(part, "tool_name", None) is None:
            return {"role": "user", "content": part.model_response()}
        content = part.model_response()
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": content}
    return None


def _user_content(content: Any) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return content
    texts = [item if isinstance(item, str) else getattr(item, "content", None) for item in content]
    return [{"type": "text", "text": text} if isinstance(text, str) else IMAGE for text in texts]


def _response(response: ModelResponse) -> dict[str, Any]:
    texts: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    for part in response.parts:
        if isinstance(part, TextPart):
            texts.append({"type": "text", "text": part.content})
        elif isinstance(part, ThinkingPart):
            texts.append(_thinking(part))
        elif isinstance(part, BaseToolCallPart):
            function = {"name": part.tool_name, "arguments": part.args_as_json_str()}
            calls.append({"id": part.tool_call_id, "type": "function", "function": function})
        else:
            texts.append(IMAGE)
    message: dict[str, Any] = {"role": "assistant", "content": texts or None}
    return {**message, "tool_calls": calls} if calls else message


def _texts(message: dict[str, Any]) -> list[str]:
    content = message.get("content") or ""
    texts = [content] if isinstance(content, str) else [part.get("text") for part in content]
    return [text for text in texts if text]


def _new(message: dict[str, Any]) -> ModelMessage:
    text = "\n".join(_texts(message))
    if message["role"] == "assistant":
        return ModelResponse(parts=[TextPart(text)])
    kind = SystemPromptPart if message["role"] == "system" else UserPromptPart
    return ModelRequest(parts=[kind(text)])
