"""Messages of frameworks within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._messages import fit_messages, origins

#: The part of a message in place of an image or a file, which counts as an image.
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


@dataclass(frozen=True)
class FittedMessage:
    """A message within a budget."""

    #: The message of OpenAI.
    message: dict[str, Any]
    #: The index of the message of the input that it is or was; ``None`` if it is not known.
    origin: int | None
    #: ``True`` if it is the message of the input.
    is_unchanged: bool


def fit(
    messages: Sequence[dict[str, Any]], budget: int, model: str | None, encoding: str | None
) -> list[FittedMessage]:
    """Fit messages of OpenAI into a budget, and find the message of the input for each of them."""
    if not messages:
        return []
    result = fit_messages(messages, budget, model=model, encoding=encoding, format="openai-chat")
    return [
        FittedMessage(message, origin, is_unchanged)
        for message, (origin, is_unchanged) in zip(result.messages, origins(result), strict=True)
    ]
