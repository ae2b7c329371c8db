"""Messages within a budget."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

from ._arguments import in_thread, indices, optional_text, tokens, wrong_type
from ._errors import UsageError
from ._lcp import Fitted, encode_json
from ._lcp import fit_messages as _fit_messages
from ._report import Report


def _to_dict(value: Any) -> Any:
    """Return an object of an SDK as a dict."""
    if hasattr(value, "model_dump"):
        # The SDK of OpenAI does not send parsed results either.
        exclude = getattr(value, "__api_exclude__", None)
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude=exclude)
    raise TypeError(f"a value has the type {type(value).__name__}")


_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_to_dict
).encode


@dataclass(frozen=True)
class FitResult:
    """Messages within a budget.

    Attributes:
        messages: The messages in the shape of the input, ready to send. Unchanged messages are the
            same objects.
        note: The note about omitted messages if the list cannot contain it, as for Anthropic.
            Append it to the system prompt; it is counted.
        is_unchanged: ``True`` if nothing was omitted or changed.
        is_appended: ``True`` if the messages begin with those of ``previous``, so that the provider
            can reuse its cache.
        report: Counts, decisions and warnings.
    """

    messages: list[Any]
    note: str | None
    is_unchanged: bool
    is_appended: bool
    report: Report
    _turn: _Turn = field(repr=False, compare=False)


@dataclass(frozen=True)
class _Turn:
    """The data that the next turn needs."""

    fitted: Fitted
    options: tuple[Any, ...]
    #: The given messages, so that changes of their objects are noticed.
    snapshot: list[Any]


def fit_messages(
    messages: Sequence[Any],
    budget: int,
    *,
    model: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
    headroom: float = 0.1,
    image_tokens: int = 1600,
    pinned: Iterable[int] = (),
    previous: FitResult | None = None,
) -> FitResult:
    """Fit messages into a budget of tokens.

    Older content shrinks first. Tool calls stay with their results. System messages, pinned
    messages and the newest user turn stay complete. Messages that fit are returned unchanged.

    ``messages`` are those of OpenAI (chat or responses), Anthropic or Gemini: dicts, or the objects
    of their SDKs. Lists with only roles and texts have the same shape for OpenAI and Anthropic.
    They are read as Anthropic's if the name of the model begins with ``claude``, and as OpenAI's
    otherwise; pass ``format`` (``openai-chat``, ``openai-responses``, ``anthropic``, ``gemini``) to
    change that.

    ``previous`` is the result of the turn before, if ``messages`` are the complete messages of that
    turn followed by new ones. While they fit, the new messages follow the previous result
    unchanged, so that the provider can reuse its cache. This takes a fraction of the time. When
    they no longer fit, or a pinned message was cut before, all messages are fitted again.

    ``pinned`` are the indices of messages that stay complete, as system messages do.

    ``headroom`` is the part of the budget that stays free for the next turns when messages are
    shortened or omitted. System messages and the newest user turn may use it.

    Each image counts ``image_tokens``; by default, about the most that Claude and GPT-4o charge for
    one. Audio, tool definitions and a separate system prompt are not counted: subtract their tokens
    from the budget. Calls without a result are removed, with a warning.

    Raise ``OverBudgetError`` if the messages that must be kept exceed the budget.

    >>> result = fit_messages([{"role": "user", "content": "Hello"}], 100)
    >>> result.messages
    [{'role': 'user', 'content': 'Hello'}]
    >>> result.report.used_tokens
    8
    """
    given: object = messages
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        wrong_type("messages", "a list", messages)
    messages = list(messages)
    if not messages:
        raise UsageError("messages: the list is empty")
    budget = tokens("budget", budget, 1)
    names = optional_text("model", model), optional_text("encoding", encoding)
    if isinstance(headroom, bool) or not isinstance(headroom, (int, float)):
        wrong_type("headroom", "a number", headroom)
    if not 0 <= headroom < 1:
        raise UsageError(f"headroom: expected a number from 0 to less than 1, got {headroom}")
    image_tokens = tokens("image_tokens", image_tokens, 0)
    pins = indices("pinned", pinned, len(messages))
    if previous is not None and not isinstance(previous, FitResult):
        wrong_type("previous", "a result of fit_messages", previous)
    options = (*names, optional_text("format", format), headroom, image_tokens)
    if previous is not None:
        appended = _append(previous, messages, budget, pins, options)
        if appended is not None:
            return appended
    fitted, warnings = _fit_messages(messages_to_json(messages), budget, pins, options)
    turn = _Turn(fitted, options, _snapshot(messages))
    return _result(turn, messages, budget, warnings)


afit_messages = in_thread(fit_messages)


def origins(result: FitResult) -> list[tuple[int | None, bool]]:
    """Return for each message the index of its original, and whether it is unchanged."""
    messages = result._turn.fitted.messages
    return [(it, True) if isinstance(it, int) else (it[0], False) for it in messages]


def common_length(messages: Sequence[Any], previous: FitResult) -> int:
    """Return the number of messages of the previous turn, or 0 if these do not begin with them."""
    snapshot = previous._turn.snapshot
    start = messages[: len(snapshot)]
    # Dicts are compared directly; objects of SDKs must be converted first.
    is_same = len(start) == len(snapshot) and (
        start == snapshot or all(map(_is_same, start, snapshot))
    )
    return len(snapshot) if is_same else 0


def _is_same(message: Any, snapshot: Any) -> bool:
    return bool(message == snapshot or _snapshot(message) == snapshot)


def _append(
    previous: FitResult,
    messages: list[Any],
    budget: int,
    pinned: list[int],
    options: tuple[Any, ...],
) -> FitResult | None:
    """Append the new messages to the previous result, if they fit."""
    turn = previous._turn
    count = common_length(messages, previous)
    if options != turn.options or count == 0:
        return None
    new = messages[count:]
    fitted = turn.fitted.append(messages_to_json(new, count), budget, pinned)
    if fitted is None:
        return None
    turn = _Turn(fitted, options, turn.snapshot + _snapshot(new))
    return _result(turn, messages, budget, previous.report.warnings)


def _result(turn: _Turn, messages: list[Any], budget: int, warnings: list[str]) -> FitResult:
    fitted = turn.fitted
    # Shortened messages are read again in each turn, because callers may change the objects.
    result = [messages[it] if isinstance(it, int) else json.loads(it[1]) for it in fitted.messages]
    decisions = fitted.by_decision
    decisions.pop("metadata", None)
    report = Report(
        used_tokens=fitted.used_tokens,
        budget=budget,
        exact=fitted.is_exact,
        encoding=fitted.encoding,
        omitted_parts=fitted.omitted_blocks,
        by_decision=decisions,
        warnings=warnings,
        blocks=[],
        _read_json=fitted.report_json,
    )
    return FitResult(result, fitted.note, fitted.is_unchanged, fitted.is_appended, report, turn)


def messages_to_json(messages: Sequence[Any], first: int = 0) -> bytes:
    """Return messages as JSON. Errors name the message; ``first`` is the index of the first one."""
    if all(map(_is_message, messages)):
        encoded = encode_json(list(messages))
        if encoded is not None:
            return encoded
        # `json` converts or rejects other values, such as objects of SDKs.
        with suppress(TypeError, ValueError, RecursionError):
            return _encode(list(messages)).encode()
    texts = (_message_to_json(it, f"messages[{at}]") for at, it in enumerate(messages, first))
    return b"[" + b",".join(texts) + b"]"


def _message_to_json(message: Any, name: str) -> bytes:
    """Return a message as JSON. Errors have this name."""
    if not _is_message(message):
        wrong_type(name, "a dict or an object of an SDK", message)
    try:
        return _encode(message).encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"{name}: half of a surrogate pair ({error.object[error.start]!a})",
            hint="text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace') replaces it",
        ) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{name}: {error}") from error


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) or hasattr(value, "model_dump")


def _snapshot(value: Any) -> Any:
    """Return a copy of JSON values, with objects of SDKs as dicts."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: it if type(it) is str else _snapshot(it) for key, it in fields.items()}
    if isinstance(value, (list, tuple)):
        return [_snapshot(item) for item in cast("Sequence[Any]", value)]
    return _to_dict(value) if hasattr(value, "model_dump") else value
