"""OpenAI Agents SDK: ``pip install llm-context-pack[openai-agents]``.

- ``Session`` wraps another session, and returns its items within a budget.
- ``input_filter`` keeps the input of each call of the model within a budget, with the new input and
  the tool results, for ``RunConfig(call_model_input_filter=…)``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from agents.run_config import CallModelData, ModelInputData

from .._arguments import tokens
from ._fit import Fitter

if TYPE_CHECKING:
    from agents.items import TResponseInputItem
    from agents.memory import Session as UnderlyingSession
    from agents.memory import SessionSettings


class Session:
    """A session that returns the items of another one within a budget of tokens.

    The other session stores all items. The new input of a run is added to those that are returned:
    leave room for it, or use ``input_filter``.
    """

    def __init__(
        self,
        underlying_session: UnderlyingSession,
        budget: int,
        *,
        model: str | None = None,
        encoding: str | None = None,
    ) -> None:
        self.underlying_session = underlying_session
        self._budget = tokens("budget", budget, 1)
        self._fitter = Fitter(model, encoding, "openai-responses")
        self.session_id: str = underlying_session.session_id
        self.session_settings: SessionSettings | None = underlying_session.session_settings

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items within the budget."""
        items = await self.underlying_session.get_items(limit)
        return await _fit(items, self._budget, self._fitter)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items to the other session."""
        await self.underlying_session.add_items(items)

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the newest item of the other session, and return it."""
        return await self.underlying_session.pop_item()

    async def clear_session(self) -> None:
        """Remove all items of the other session."""
        await self.underlying_session.clear_session()


def input_filter(
    budget: int, *, model: str | None = None, encoding: str | None = None
) -> Callable[[CallModelData[Any]], Awaitable[ModelInputData]]:
    """Return a filter that gives the model at most ``budget`` tokens of items.

    Instructions and tool definitions are not items: subtract their tokens from the budget.
    """
    budget = tokens("budget", budget, 1)
    fitter = Fitter(model, encoding, "openai-responses")

    async def filter(data: CallModelData[Any]) -> ModelInputData:
        items = await _fit(data.model_data.input, budget, fitter)
        return ModelInputData(input=items, instructions=data.model_data.instructions)

    return filter


async def _fit(
    items: Sequence[TResponseInputItem], budget: int, fitter: Fitter
) -> list[TResponseInputItem]:
    return [fitted.message for fitted in await asyncio.to_thread(fitter.fit, items, budget)]
