"""Sessions: recording, handing over and resuming conversations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from ._arguments import (
    in_thread,
    optional_seconds,
    optional_text,
    optional_tokens,
    path,
    text,
    tokens,
    wrong_type,
)
from ._errors import UsageError
from ._lcp import Sessions
from ._messages import messages_to_json
from ._pack import Pack


@dataclass(frozen=True)
class SessionStatus:
    """The status of a session.

    Attributes:
        id: The ID of the session.
        is_new: ``True`` if this call began the session.
        recorded: The number of messages that this call recorded.
        messages: The number of messages.
        window: The tokens of the model's window.
        output_reserve: The tokens of the window that are reserved for output.
        used_tokens: The tokens in use: those that the provider reported, or else counted ones.
        used_percent: The used part of the window in percent.
        remaining_turns: The estimated number of turns that are left.
        decision: The next step: ``none``, ``warning`` (few turns are left) or ``hand_off``.
        reason: The reason for the next step.
        is_compaction_due: ``True`` if less than 20 % of the budget is left, so that a compaction is
            due.
        handoff: The ID of a hand-off that waits to be resumed.
        warnings: Warnings about this call.
    """

    id: str
    is_new: bool
    recorded: int
    messages: int
    window: int
    output_reserve: int
    used_tokens: int
    used_percent: int
    remaining_turns: int
    decision: str
    reason: str
    is_compaction_due: bool
    handoff: str | None
    warnings: list[str]
    _json: str = field(repr=False)

    @classmethod
    def _from_json(cls, json_text: str) -> SessionStatus:
        status: dict[str, Any] = json.loads(json_text)
        return cls(
            id=status["conversation"],
            is_new=status["new"],
            recorded=status["recorded"],
            messages=status["messages"],
            window=status["window"],
            output_reserve=status["output_reserve"],
            used_tokens=status["usage"]["total_tokens"],
            used_percent=status["utilization_percent"],
            remaining_turns=status["remaining_turns"],
            decision=status["decision"],
            reason=status["reason"],
            is_compaction_due=status["compaction_due"],
            handoff=status["handoff"],
            warnings=status["warnings"],
            _json=json_text,
        )

    def to_json(self) -> str:
        """Return the complete status as JSON (``lcp.track.v1``)."""
        return self._json


@dataclass(frozen=True)
class Handoff:
    """A prepared hand-off.

    Attributes:
        id: The ID, for ``Session.resume``.
        is_new: ``True`` if this call prepared it.
        messages: The number of messages that it covers.
        tokens_before: The tokens of the session before it.
        tokens_after: The tokens with which the next session begins.
        warnings: Warnings, such as about content that the next session lacks.
        pack: The hand-off as a pack.
    """

    id: str
    is_new: bool
    messages: int
    tokens_before: int
    tokens_after: int
    warnings: list[str]
    pack: Pack = field(repr=False)
    _json: str = field(repr=False)

    def to_json(self) -> str:
        """Return the complete outcome as JSON (``lcp.prepared.v1``)."""
        return self._json


@dataclass(frozen=True)
class ResumedSession:
    """A session that continues another one.

    Attributes:
        session: The new session.
        previous: The ID of the session before it.
        text: The text to send first: the resume prompt, and messages that came after the hand-off.
        tokens: The tokens of the resume prompt.
        warnings: Warnings, such as about content that the prompt lacks.
    """

    session: Session
    previous: str
    text: str
    tokens: int
    warnings: list[str]
    _json: str = field(repr=False)

    def to_json(self) -> str:
        """Return the complete result as JSON (``lcp.resume.v1``)."""
        return self._json


@dataclass(frozen=True)
class Compaction:
    """The result of a compaction.

    Attributes:
        is_done: ``True`` if the session was compacted.
        reason: The reason if it was not.
        used_tokens: The tokens in use after the call.
        warnings: Warnings about content that does not fit into the memory.
        pack: The messages that the window shows, with the memory, as a pack.
    """

    is_done: bool
    reason: str | None
    used_tokens: int
    warnings: list[str]
    pack: Pack = field(repr=False)
    _json: str = field(repr=False)

    def to_json(self) -> str:
        """Return the complete outcome as JSON (``lcp.compaction.v1``)."""
        return self._json


class Session:
    """A conversation in a store: recorded, measured, and handed over before its window is full.

    The ``store`` is the path of a SQLite file, or a PostgreSQL address (``postgres://…``). The
    default is ``lcp/sessions.sqlite`` in the user's data folder, the store of ``lcp session``. Only
    ``record`` creates a store. The ``model`` gives the tokenizer and the ``window``, of which
    ``output_reserve`` tokens are left for output. While another process uses the session, calls
    wait up to ``wait`` seconds (2 by default), then raise ``SessionError``.

    Methods that read or write have an async version, whose name begins with ``a``.

    Attributes:
        id: The ID.
    """

    __slots__ = ("_options", "_output_reserve", "_sessions", "_window", "id")

    id: str

    def __init__(
        self,
        id: str,
        *,
        store: str | PathLike[str] | None = None,
        model: str | None = None,
        encoding: str | None = None,
        window: int | None = None,
        output_reserve: int | None = None,
        wait: int | None = None,
    ) -> None:
        self.id = text("id", id)
        self._window = optional_tokens("window", window, 1)
        self._output_reserve = optional_tokens("output_reserve", output_reserve)
        self._options = _options(store, model, encoding, wait)
        self._sessions = Sessions(*self._options)

    def __repr__(self) -> str:
        return f"lcp.Session({self.id!r})"

    def record(
        self,
        messages: Sequence[Any] = (),
        *,
        append: bool = False,
        input_tokens: int | None = None,
        cached_input_tokens: int = 0,
        output_tokens: int = 0,
        secrets: str = "warn",
    ) -> SessionStatus:
        """Record messages, and the usage that the provider reported for the newest request.

        ``messages`` are those of ``fit_messages``: the conversation from its beginning, of which
        the new ones are recorded, or with ``append`` only new ones. ``secrets`` are reported
        (``warn``), replaced by markers (``redact``), or not searched for (``off``).
        """
        if isinstance(messages, (str, bytes)) or not isinstance(messages, Sequence):
            wrong_type("messages", "a list", messages)
        given = messages_to_json(messages)
        usage = None
        if input_tokens is not None:
            usage = (
                tokens("input_tokens", input_tokens),
                tokens("cached_input_tokens", cached_input_tokens),
                tokens("output_tokens", output_tokens),
            )
        elif cached_input_tokens or output_tokens:
            raise UsageError("input_tokens: expected a number of tokens, got None")
        arguments = {
            "messages": given.decode() if messages else None,
            "append": bool(append),
            "usage": usage,
            "secrets": text("secrets", secrets),
            "window": self._window,
            "output_reserve": self._output_reserve,
        }
        return SessionStatus._from_json(self._sessions.record(self.id, arguments))

    def status(self) -> SessionStatus:
        """Return the status. For a session that does not exist, all numbers are 0."""
        return SessionStatus._from_json(self._sessions.status(self.id))

    def handoff(self, *, when: str = "due", target: int | None = None) -> Handoff | None:
        """Prepare a hand-off to a new session. Return ``None`` if none is due.

        ``when`` is ``due``, ``once`` (if due, not yet handed
        over, and useful) or
        ``always``. ``target`` is the maximum number of tokens of the resume prompt.
        """
        target = optional_tokens("target", target, 1)
        outcome, pack = self._sessions.handoff(self.id, text("when", when), target)
        handoff: dict[str, Any] | None = json.loads(outcome)["handoff"]
        if handoff is None or pack is None:
            return None
        return Handoff(
            id=handoff["id"],
            is_new=json.loads(outcome)["new"],
            messages=handoff["messages"],
            tokens_before=handoff["tokens_before"],
            tokens_after=handoff["tokens_after"],
            warnings=handoff["warnings"],
            pack=Pack(pack),
            _json=outcome,
        )

    @staticmethod
    def resume(
        handoff: str,
        *,
        id: str | None = None,
        store: str | PathLike[str] | None = None,
        model: str | None = None,
        encoding: str | None = None,
        window: int | None = None,
        output_reserve: int | None = None,
        wait: int | None = None,
        again: bool = False,
    ) -> ResumedSession:
        """Resume a hand-off, which is possible only once, and return the new session.

        The new session gets an ``id`` from that of the hand-off, and the window of the previous
        session, unless you pass others. With ``again``, the result of an earlier call is returned,
        for a caller that lost it.
        """
        options = _options(store, model, encoding, wait)
        window = optional_tokens("window", window, 1)
        output_reserve = optional_tokens("output_reserve", output_reserve)
        prompt, resumed_json = Sessions(*options).resume(
            text("handoff", handoff),
            optional_text("id", id),
            window,
            output_reserve,
            bool(again),
        )
        resumed: dict[str, Any] = json.loads(resumed_json)
        session = Session(
            resumed["conversation"],
            store=store,
            model=model,
            encoding=encoding,
            window=window,
            output_reserve=output_reserve,
            wait=wait,
        )
        return ResumedSession(
            session=session,
            previous=resumed["previous"],
            text=prompt,
            tokens=resumed["directive"]["tokens"],
            warnings=resumed["directive"]["warnings"],
            _json=resumed_json,
        )

    def compact(self, *, if_due: bool = False) -> Compaction:
        """Replace old messages of the window by a short memory. All messages stay in the store.

        With ``if_due``, do so only if less than 20 % of the budget is left, and if it helps.
        """
        outcome_json, pack = self._sessions.compact(self.id, bool(if_due))
        outcome: dict[str, Any] = json.loads(outcome_json)
        compaction: dict[str, Any] | None = outcome["compaction"]
        used = outcome["used_tokens"] if compaction is None else compaction["tokens_after"]
        return Compaction(
            is_done=compaction is not None,
            reason=outcome["reason"],
            used_tokens=used,
            warnings=outcome["warnings"],
            pack=Pack(pack),
            _json=outcome_json,
        )

    def usage(self) -> dict[str, Any]:
        """Return the usage with its history: the fields of ``lcp session usage --json``."""
        usage: dict[str, Any] = json.loads(self._sessions.usage(self.id))
        return usage

    @staticmethod
    def list(store: str | PathLike[str] | None = None) -> list[dict[str, Any]]:
        """Return the sessions of a store: the fields of ``lcp session list --json``."""
        listed = json.loads(Sessions(*_options(store, None, None, None)).list())
        conversations: list[dict[str, Any]] = listed["conversations"]
        return conversations

    arecord = in_thread(record)
    astatus = in_thread(status)
    ahandoff = in_thread(handoff)
    aresume = staticmethod(in_thread(resume))
    acompact = in_thread(compact)
    ausage = in_thread(usage)
    alist = staticmethod(in_thread(list))


def _options(
    store: object, model: object, encoding: object, wait: object
) -> tuple[str | None, str | None, str | None, int | None]:
    return (
        None if store is None else text("store", path("store", store)),
        optional_text("model", model),
        optional_text("encoding", encoding),
        optional_seconds("wait", wait),
    )
