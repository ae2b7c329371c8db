"""Messages of frameworks within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .._arguments import optional_text
from .._messages import FitResult, common_length, fit_messages, origins

#: The part of a message in place of an image or a file, which counts as an image.
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}

#: The maximum number of conversations whose newest fit is remembered.
CONVERSATIONS = 16


@dataclass(frozen=True)
class FittedMessage:
    """A message within a budget."""

    #: The message of OpenAI.
    message: Any
    #: The index of the message of the input that it is or was; ``None`` if it is not known.
    origin: int | None
    #: ``True`` if it is the message of the input.
    is_unchanged: bool


@dataclass
class Fitter:
    """A fitter of messages of OpenAI.

    It remembers the newest fit of each conversation, which the next turn extends.
    """

    model: str | None = None
    encoding: str | None = None
    format: str = "openai-chat"
    _results: list[FitResult] = field(default_factory=list[FitResult], repr=False, compare=False)

    def __post_init__(self) -> None:
        optional_text("model", self.model)
        optional_text("encoding", self.encoding)

    def __reduce__(self) -> tuple[type[Fitter], tuple[str | None, str | None, str]]:
        # A copy remembers nothing, because fits cannot be copied.
        return Fitter, (self.model, self.encoding, self.format)

    def fit(self, messages: Sequence[Any], budget: int) -> list[FittedMessage]:
        """Fit messages into a budget, and map each one to its message of the input."""
        if not messages:
            return []
        previous = max(
            self._results, key=lambda result: common_length(messages, result), default=None
        )
        if previous is not None and common_length(messages, previous) == 0:
            previous = None
        result = fit_messages(
            messages,
            budget,
            model=self.model,
            encoding=self.encoding,
            format=self.format,
            previous=previous,
        )
        others = [it for it in self._results if it is not previous]
        # Another thread may do the same. Then one of the fits is forgotten.
        self._results = [result, *others][:CONVERSATIONS]
        return [
            FittedMessage(message, origin, is_unchanged)
            for message, (origin, is_unchanged) in zip(
                result.messages, origins(result), strict=True
            )
        ]
