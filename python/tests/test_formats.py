"""Laws of fits for each format, for generated histories."""

import json
import re
from typing import Any

import pytest
import tiktoken_files
from generated_histories import FORMATS, HISTORIES, Part, Turn, parts
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lcp

IMAGE_TOKENS = 100
SYSTEM_ROLES = ("system", "developer")
#: Placeholders of omitted texts.
PLACEHOLDER = re.compile(r"\[omitted: .* ~[\d,]+tok\]")
#: Texts about the history itself.
NOTES = re.compile(r"\(The beginning of .*\)|\[omitted: [\d,]+ blocks? ~[\d,]+tok\]")

each_format = pytest.mark.parametrize("format", FORMATS)


def fit(messages: list[dict[str, Any]], budget: int, format: str, **more: Any) -> lcp.FitResult:
    # All formats use an encoding of tiktoken, which counts each result.
    return lcp.fit_messages(
        messages,
        budget,
        encoding="o200k_base",
        format=format,
        image_tokens=IMAGE_TOKENS,
        **more,
    )


def count(fitted: list[Part], note: str | None) -> int:
    """Count the texts and images with tiktoken. Encrypted thinking is not counted."""
    texts = [part.value for part in fitted if part.kind in ("text", "call", "result")]
    images = sum(part.kind == "image" for part in fitted)
    return tiktoken_files.count([*texts, note or ""]) + images * IMAGE_TOKENS


def is_shortened(text: str, original: str) -> bool:
    """Return whether a text is a placeholder, or consists of passages of the original."""
    if PLACEHOLDER.fullmatch(text):
        return True
    passages = re.split(r"^….*$", text, flags=re.MULTILINE)
    end = 0
    for passage in passages:
        start = original.find(passage.strip("\n"), end)
        if start < 0:
            return False
        end = start + len(passage.strip("\n"))
    return len(passages) > 1


def is_from(part: Part, original: Part) -> bool:
    """Return whether a part is the original, or a shorter form of it."""
    if part == original:
        return True
    if part.role != original.role or part.id != original.id:
        return False
    if part.kind == "text" and original.kind == "image":
        return PLACEHOLDER.fullmatch(part.value) is not None
    if part.kind != original.kind or part.kind in ("image", "thinking"):
        return False
    if part.kind == "call":
        name = original.value.partition("{")[0]
        arguments = part.value.removeprefix(name)
        return list(json.loads(arguments)) == ["shortened"]
    return is_shortened(part.value, original.value)


def assert_order(fitted: list[Part], originals: list[Part]) -> None:
    """Check that each part is from the history, in its order. A note may begin it."""
    rest = iter(originals)
    may_be_note = True
    for part in fitted:
        if may_be_note and part.role in ("system", "user") and NOTES.fullmatch(part.value):
            may_be_note = False
            continue
        assert any(is_from(part, original) for original in rest), part
        may_be_note = may_be_note and part.role in SYSTEM_ROLES


def assert_pairs(fitted: list[Part]) -> None:
    """Check that results follow their calls, with nothing in between."""
    unanswered: list[str] = []
    is_answering = False
    for part in fitted:
        if part.kind == "result":
            unanswered.remove(part.id)
            is_answering = bool(unanswered)
        elif part.role != "tool":
            assert not is_answering
            assert not unanswered or part.role == "assistant"
            if part.kind == "call":
                unanswered.append(part.id)
    assert not unanswered


def newest_question(messages: list[dict[str, Any]]) -> tuple[int, list[Part]]:
    """Return the index of the newest message of the user, and its parts without results."""
    for at in reversed(range(len(messages))):
        question = [part for part in parts(messages[at : at + 1]) if part.role == "user"]
        if question:
            return at, question
    raise AssertionError("no question")


def assert_laws(messages: list[dict[str, Any]], result: lcp.FitResult, budget: int) -> None:
    fitted, originals = parts(result.messages), parts(messages)
    assert count(fitted, result.note) <= result.report.used_tokens <= budget
    assert_order(fitted, originals)
    assert_pairs(fitted)
    # The system messages and the newest question are complete.
    system = [message for message in messages if message.get("role") in SYSTEM_ROLES]
    assert all(any(message is it for it in result.messages) for message in system)
    at, question = newest_question(messages)
    assert [part for part in fitted if part in question] == question
    # Calls of the newest turn have their thinking.
    shown = {part.id for part in fitted if part.kind == "call"}
    thoughts: list[Part] = []
    for part in parts(messages[at + 1 :]):
        if part.kind == "thinking":
            thoughts.append(part)
        elif part.role != "assistant":
            thoughts = []
        elif part.kind == "call" and part.id in shown:
            assert all(thought in fitted for thought in thoughts)


def assert_accepted_by_anthropic(messages: list[dict[str, Any]]) -> None:
    assert [it["role"] for it in messages] == [
        ("user", "assistant")[at % 2] for at in range(len(messages))
    ]
    for message in messages:
        kinds = [part.kind for part in parts([message])]
        assert kinds
        assert message["role"] == "user" or kinds[-1] != "thinking"
        # Results come before everything else.
        if isinstance(message["content"], list):
            is_result = [part["type"] == "tool_result" for part in message["content"]]
            assert is_result == sorted(is_result, reverse=True)


@each_format
@settings(deadline=None, max_examples=30, derandomize=True)
@given(turns=HISTORIES, budget=st.integers(100, 2_500))
def test_fits_keep_the_laws(format: str, turns: list[Turn], budget: int) -> None:
    messages = FORMATS[format](turns)
    try:
        result = fit(messages, budget, format)
    except lcp.OverBudgetError:
        # The messages that must stay complete exceed the budget alone.
        at, _ = newest_question(messages)
        required = [it for it in messages[:at] if it.get("role") in SYSTEM_ROLES]
        with pytest.raises(lcp.OverBudgetError):
            fit([*required, messages[at]], budget, format)
        return
    assert_laws(messages, result, budget)
    if format == "anthropic":
        assert_accepted_by_anthropic(result.messages)
    # A second fit changes nothing.
    assert fit(result.messages, budget, format).messages == result.messages


@each_format
@settings(deadline=None, max_examples=20, derandomize=True)
@given(turns=HISTORIES)
def test_messages_that_fit_exactly_are_unchanged(format: str, turns: list[Turn]) -> None:
    messages = FORMATS[format](turns)
    used = fit(messages, 1_000_000, format).report.used_tokens
    result = fit(messages, used, format)
    assert result.is_unchanged
    assert result.note is None
    assert all(a is b for a, b in zip(result.messages, messages, strict=True))
    assert_laws(messages, result, used)


@each_format
@settings(deadline=None, max_examples=30, derandomize=True)
@given(turns=HISTORIES, budget=st.integers(300, 2_500), data=st.data())
def test_next_turns_keep_the_laws(
    format: str, turns: list[Turn], budget: int, data: st.DataObject
) -> None:
    messages = FORMATS[format](turns)
    ends = [at for at in range(1, len(messages)) if is_valid_start(messages, at)]
    assume(ends)
    end = data.draw(st.sampled_from(ends))
    try:
        first = fit(messages[:end], budget, format)
        result = fit(messages, budget, format, previous=first)
    except lcp.OverBudgetError:
        return
    assert_laws(messages, result, budget)
    new = messages[end:]
    if result.is_appended:
        assert result.messages == [*first.messages, *new]
        return
    assert result.messages == fit(messages, budget, format).messages
    # The new messages no longer fit, or need the thinking at the end of the turn before.
    if parts(messages[:end])[-1].kind == "thinking":
        return
    appended = fit([*first.messages, *new], 1_000_000, format).report.used_tokens
    note = first.report.used_tokens - fit(first.messages, budget, format).report.used_tokens
    assert appended + note > budget


def is_valid_start(messages: list[dict[str, Any]], end: int) -> bool:
    """Return whether a history can end here: with a question, and without an open call."""
    start = parts(messages[:end])
    calls = [part.id for part in start if part.kind == "call"]
    results = [part.id for part in start if part.kind == "result"]
    has_question = any(part.role == "user" for part in start)
    return has_question and sorted(calls) == sorted(results)
