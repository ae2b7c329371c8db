"""LangChain: ``pip install llm-context-pack[langchain]``.

- ``token_counter`` counts for ``trim_messages``.
- ``fit`` fits messages into a budget.
- ``ContextMiddleware`` does so before each call of the model, for ``create_agent``.
- ``pre_model_hook`` does the same for LangGraph's ``create_react_agent``, which is deprecated.

The state of an agent, and so its checkpoints, keep all messages. While the next turn fits, the
messages of the previous turn stay as they are, so the provider can reuse its cache.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    convert_to_messages,
    convert_to_openai_messages,
)

from .._arguments import tokens
from .._errors import UsageError
from .._lcp import Encoding
from ._fit import Fitter


def token_counter(
    model: str | None = None, *, encoding: str | None = None
) -> Callable[[list[BaseMessage]], int]:
    """Return a ``token_counter`` for ``trim_messages``.

    It counts the texts and calls, 4 tokens for each message and 3 for the list, as ``fit`` does.
    """
    tokenizer = Encoding(encoding, model=model)

    def count(messages: list[BaseMessage]) -> int:
        texts = [_text(message) for message in to_openai(messages)]
        return sum(tokenizer.count_batch(texts)) + 4 * len(texts) + 3

    return count


def fit(
    messages: Sequence[BaseMessage],
    budget: int,
    *,
    model: str | None = None,
    encoding: str | None = None,
) -> list[BaseMessage]:
    """Fit messages into a budget of tokens. Unchanged messages are the same objects."""
    return _fit(messages, budget, Fitter(model, encoding))


def _fit(messages: Sequence[BaseMessage], budget: int, fitter: Fitter) -> list[BaseMessage]:
    result: list[BaseMessage] = []
    for fitted in fitter.fit(to_openai(messages), budget):
        if fitted.origin is None:
            result += convert_to_messages([fitted.message])
            continue
        message = messages[fitted.origin]
        if not fitted.is_unchanged:
            changed = convert_to_messages([fitted.message])[0]
            update: dict[str, Any] = {"content": changed.content}
            if isinstance(changed, AIMessage):
                update["tool_calls"] = changed.tool_calls
            message = message.model_copy(update=update)
        result.append(message)
    return result


def pre_model_hook(
    budget: int, *, model: str | None = None, encoding: str | None = None
) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return a hook that gives the model at most ``budget`` tokens of messages.

    It returns ``llm_input_messages``, so the messages of the state do not change. The prompt of
    ``create_react_agent`` is added later: subtract its tokens from the budget.
    """
    budget = tokens("budget", budget, 1)
    fitter = Fitter(model, encoding)

    def hook(state: Mapping[str, Any]) -> dict[str, Any]:
        return {"llm_input_messages": _fit(state["messages"], budget, fitter)}

    return hook


class ContextMiddleware(AgentMiddleware[Any, Any, Any]):
    """A middleware for ``create_agent`` that gives the model at most ``budget`` tokens.

    The system prompt counts; tool definitions do not. The messages of the state do not change.
    """

    def __init__(
        self, budget: int, *, model: str | None = None, encoding: str | None = None
    ) -> None:
        self._budget = tokens("budget", budget, 1)
        self._fitter = Fitter(model, encoding)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Call the model with messages within the budget."""
        return handler(self._fit(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model with messages within the budget."""
        return await handler(await asyncio.to_thread(self._fit, request))

    def _fit(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        system = request.system_message
        messages = [*([system] if system else []), *request.messages]
        fitted = _fit(messages, self._budget, self._fitter)
        others = [message for message in fitted if message is not system]
        return request.override(messages=cast("list[AnyMessage]", others))


def to_openai(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    """Convert each message into one of OpenAI."""
    converted: list[dict[str, Any]] = []
    for at, message in enumerate(messages):
        converted += convert_to_openai_messages([message], pass_through_unknown_blocks=True)
        if len(converted) != at + 1:
            raise UsageError(f"messages[{at}]: tool results must be messages of their own")
    return converted


def _part_text(part: dict[str, Any]) -> str:
    if str(part.get("type")).endswith("thinking"):
        return json.dumps(part, ensure_ascii=False, separators=(",", ":"))
    return part.get("text") or ""


def _text(message: dict[str, Any]) -> str:
    """Return the text of a message that counts."""
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "".join(map(_part_text, content))
    calls: list[dict[str, Any]] = message.get("tool_calls") or []
    functions = (call["function"] for call in calls)
    return content + "".join(it["name"] + it["arguments"] for it in functions)
