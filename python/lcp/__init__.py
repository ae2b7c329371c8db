"""Exact token counts, message histories within a budget, and context packs.

>>> import lcp
>>> lcp.count("a budget is a promise")
5
"""

from __future__ import annotations

from ._lcp import Column, Encoding, __version__, hash_column

# Modules that take longer to import than everything else are imported on first use.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._errors import (
        FileError,
        LcpError,
        LimitError,
        MalformedError,
        OverBudgetError,
        SessionError,
        UsageError,
    )
    from ._messages import FitResult, afit_messages, fit_messages
    from ._pack import Block, Pack, aread_blocks, read_blocks
    from ._report import BlockReport, Report
    from ._session import Compaction, Handoff, ResumedSession, Session, SessionStatus

__all__ = [
    "Block",
    "BlockReport",
    "Column",
    "Compaction",
    "Encoding",
    "FileError",
    "FitResult",
    "Handoff",
    "LcpError",
    "LimitError",
    "MalformedError",
    "OverBudgetError",
    "Pack",
    "Report",
    "ResumedSession",
    "Session",
    "SessionError",
    "SessionStatus",
    "UsageError",
    "__version__",
    "afit_messages",
    "aread_blocks",
    "count",
    "fit_messages",
    "hash_column",
    "read_blocks",
]

#: The names that are imported on first use, by their modules.
_MODULES = {
    "_errors": (
        "FileError",
        "LcpError",
        "LimitError",
        "MalformedError",
        "OverBudgetError",
        "SessionError",
        "UsageError",
    ),
    "_messages": ("FitResult", "afit_messages", "fit_messages"),
    "_pack": ("Block", "Pack", "aread_blocks", "read_blocks"),
    "_report": ("BlockReport", "Report"),
    "_session": ("Compaction", "Handoff", "ResumedSession", "Session", "SessionStatus"),
}

_encodings: dict[tuple[str | None, str | None], Encoding] = {}


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            from importlib import import_module

            value: object = getattr(import_module(f".{module}", __name__), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'lcp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def count(text: str, *, model: str | None = None, encoding: str | None = None) -> int:
    """Count the tokens of a text.

    The count is exact if the tokenizer of the model is public. ``Encoding(model=...).is_exact``
    tells. Without a model and an encoding, it is that of ``o200k_base``.

    >>> count("a budget is a promise", model="gpt-5")
    5
    """
    try:
        tokenizer = _encodings.get((model, encoding))
    except TypeError:  # A name that cannot be hashed: the next line names it.
        tokenizer = None
    if tokenizer is None:
        tokenizer = _encodings[model, encoding] = Encoding(encoding, model=model)
    return tokenizer.count(text)
