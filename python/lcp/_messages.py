"""Messages within a budget."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._errors import UsageError
from ._lcp import fit_messages as _fit_messages


@dataclass(frozen=True)
class FitReport:
    """A report on messages that were fitted into a budget."""

    #: Tokens of the messages. Images and audio are not counted.
    used_tokens: int
    #: The budget.
    budget: int
    #: ``True`` if the texts are counted with the model's own tokenizer, ``False`` for estimates.
    #: The tokens around each message are a convention: 4 for each, 3 for the list.
    exact: bool
    #: The name of the tokenizer.
    encoding: str
    #: The number of parts that no message shows.
    omitted_parts: int
    #: The number of parts by decision, such as ``full``, ``excerpt`` or ``placeholder``.
    by_decision: dict[str, int]
    #: The warnings, such as about calls without a result, which are removed.
    warnings: list[str]
    _json: str

    @classmethod
    def _from_json(cls, text: str, warnings: list[str]) -> FitReport:
        report = json.loads(text)
        decisions = report["by_decision"]
        decisions.pop("metadata", None)
        return cls(
            used_tokens=report["used_tokens"],
            budget=report["budget"],
            exact=report["exact"],
            encoding=report["encoding"],
            omitted_parts=(report["rolled_up"] or {"count": 0})["count"],
            by_decision=decisions,
            warnings=warnings,
            _json=text,
        )

    def to_json(self) -> str:
        """Return the complete report as JSON (``lcp.export.v1``)."""
        return self._json


@dataclass(frozen=True)
class FitResult:
    """Messages within a budget."""

    #: The messages in the shape of the input, ready to send. Unchanged messages are the same
    #: objects.
    messages: list[Any]
    #: The note about omitted messages if the list cannot contain it, as for Anthropic. Append it to
    #: the system prompt; it is counted.
    note: str | None
    #: ``True`` if nothing was omitted or changed.
    is_unchanged: bool
    #: Counts, decisions and warnings.
    report: FitReport


def fit_messages(
    messages: Sequence[Any],
    budget: int,
    *,
    model: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
) -> FitResult:
    """Fit messages into a budget of tokens.

    Older content shrinks first. Calls of tools stay with their results, and system messages and the
    newest turn of the user are kept. Messages that fit are returned unchanged.

    ``messages`` are those of OpenAI (chat or responses), Anthropic or Gemini: dicts, or the objects
    of their SDKs. Lists with only roles and texts have the same shape for OpenAI and Anthropic.
    They are read as Anthropic's if the name of the model begins with ``claude``, and as OpenAI's
    otherwise; pass ``format`` (``openai-chat``, ``openai-responses``, ``anthropic``, ``gemini``) to
    change that.

    Images and audio are not counted; subtract their tokens from the budget. Calls without a result
    are removed, with a warning.

    Raise ``OverBudgetError`` if the messages that must be kept exceed the budget.

    >>> result = fit_messages([{"role": "user", "content": "Hello"}], 100)
    >>> result.messages
    [{'role': 'user', 'content': 'Hello'}]
    >>> result.report.used_tokens
    8
    """
    if isinstance(messages, (str, bytes)) or not isinstance(messages, Sequence):
        raise UsageError(f"messages: expected a list, got {type(messages).__name__}")
    if not messages:
        raise UsageError("messages: the list is empty")
    if isinstance(budget, bool) or not isinstance(budget, int) or not 0 < budget < 2**32:
        raise UsageError(f"budget: expected a number of tokens from 1 to 2^32 - 1, got {budget!r}")
    for name, value in (("model", model), ("encoding", encoding), ("format", format)):
        if not isinstance(value, str | None):
            raise UsageError(f"{name}: expected a string, got {type(value).__name__}")
    texts = [_to_json(message, f"messages[{at}]") for at, message in enumerate(messages)]
    is_claude = model is not None and model.startswith("claude")
    if format is None and is_claude and all(map(_is_of_any_format, map(json.loads, texts))):
        format = "anthropic"
    text = f"[{','.join(texts)}]"
    fitted, note, is_unchanged, report, warnings = _fit_messages(
        text, budget, model, encoding, format
    )
    if is_unchanged:
        result = list(messages)
    else:
        result = _with_originals(json.loads(fitted), texts, messages)
    return FitResult(result, note, is_unchanged, FitReport._from_json(report, warnings))


def _to_json(message: Any, name: str) -> str:
    if not isinstance(message, dict) and not hasattr(message, "model_dump"):
        kind = type(message).__name__
        raise UsageError(f"{name}: expected a dict or an object of an SDK, got {kind}")
    try:
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, default=_to_dict)
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"{name}: half of a surrogate pair ({error.object[error.start]!a})",
            hint="text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace') replaces it",
        ) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{name}: {error}") from error
    return text


def _to_dict(value: Any) -> Any:
    """Return an object of an SDK as a dict."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    raise TypeError(f"a value has the type {type(value).__name__}")


def _is_of_any_format(message: dict[str, Any]) -> bool:
    """Return whether a message has the same shape for OpenAI and Anthropic."""
    return message.get("role") in ("user", "assistant") and message.keys() <= {"role", "content"}


def _with_originals(fitted: list[Any], texts: list[str], messages: Sequence[Any]) -> list[Any]:
    """Replace the messages that are equal to those of the input by them, in order."""
    result = []
    start = 0
    originals = [_normal(json.loads(text)) for text in texts]
    for message in fitted:
        normal = _normal(message)
        at = next((at for at in range(start, len(originals)) if originals[at] == normal), None)
        if at is None:
            result.append(message)
        else:
            result.append(messages[at])
            start = at + 1
    return result


def _normal(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without the differences in writing that have no meaning."""
    normal = {key: value for key, value in message.items() if value is not None}
    if "role" in normal and normal.get("type") == "message":
        del normal["type"]
    content = normal.get("content")
    if isinstance(content, list) and len(content) == 1:
        part = content[0]
        if isinstance(part, dict) and part.keys() == {"type", "text"} and part["type"] == "text":
            normal["content"] = part["text"]
    return normal
