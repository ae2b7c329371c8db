"""Exact token counts, message histories within a budget, and context packs.

>>> import lcp
>>> lcp.count("a budget is a promise")
5
"""

from __future__ import annotations

from ._errors import (
    FileError,
    LcpError,
    LimitError,
    MalformedError,
    OverBudgetError,
    UsageError,
)
from ._lcp import Encoding, Pack, __version__

# Modules that take longer to import than everything else are imported on first use.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._messages import FitReport, FitResult, fit_messages

__all__ = [
    "Encoding",
    "FileError",
    "FitReport",
    "FitResult",
    "LcpError",
    "LimitError",
    "MalformedError",
    "OverBudgetError",
    "Pack",
    "UsageError",
    "__version__",
    "count",
    "fit_messages",
]


_encodings: dict[tuple[str | None, str | None], Encoding] = {}


def __getattr__(name: str) -> object:
    if name in ("FitReport", "FitResult", "fit_messages"):
        from . import _messages

        return getattr(_messages, name)
    raise AttributeError(f"module 'lcp' has no attribute {name!r}")


def count(text: str, *, model: str | None = None, encoding: str | None = None) -> int:
    """Count the tokens of a text.

    The count is exact if the tokenizer of the model is public. ``Encoding(model=...).is_exact``
    tells. Without a model and an encoding, it is that of ``o200k_base``.

    >>> count("a budget is a promise", model="gpt-5")
    5
    """
    tokenizer = _encodings.get((model, encoding))
    if tokenizer is None:
        tokenizer = _encodings[model, encoding] = Encoding(encoding, model=model)
    return tokenizer.count(text)
