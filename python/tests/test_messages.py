"""Messages within a budget."""

import asyncio
import json
from typing import Any

import pytest
import tiktoken_files
from histories import history
from hypothesis import given, settings
from hypothesis import strategies as st

import lcp

WORDS = ["budget", "pack", "the", "reads", "a file", "of 日本語", "\n", "fn main() {}", "🦀"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=60).map(" ".join)


def turn(index: int, question: str, result: str, answer: str) -> list[dict[str, Any]]:
    call = {
        "id": f"call_{index}",
        "type": "function",
        "function": {"name": "read", "arguments": json.dumps({"path": f"{index}.txt"})},
    }
    return [
        {"role": "user", "content": question},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{index}", "content": result},
        {"role": "assistant", "content": answer},
    ]


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    messages = [{"role": "system", "content": draw(TEXTS)}] if draw(st.booleans()) else []
    for index in range(draw(st.integers(0, 8))):
        messages += turn(index, draw(TEXTS), draw(TEXTS) * draw(st.integers(1, 9)), draw(TEXTS))
    return [*messages, {"role": "user", "content": draw(TEXTS)}]


def tokens(messages: list[dict[str, Any]]) -> int:
    """Count the texts and calls of messages with tiktoken."""
    texts = [message.get("content") or "" for message in messages]
    functions = [call["function"] for it in messages for call in it.get("tool_calls", [])]
    return tiktoken_files.count(texts + [it["name"] + it["arguments"] for it in functions])


@settings(deadline=None, max_examples=60)
@given(histories(), st.integers(200, 3_000))
def test_fitted_messages_keep_the_laws(messages: list[dict[str, Any]], budget: int) -> None:
    result = lcp.fit_messages(messages, budget)
    fitted = result.messages
    assert tokens(fitted) <= result.report.used_tokens <= budget
    # Calls and results come in pairs, in their order.
    calls = [call["id"] for message in fitted for call in message.get("tool_calls", [])]
    assert [it["tool_call_id"] for it in fitted if it["role"] == "tool"] == calls
    assert calls == sorted(calls)
    # The newest turn of the user and the system messages are kept.
    assert fitted[-1] == messages[-1]
    if messages[0]["role"] == "system":
        assert fitted[0] is messages[0]
    # A second fit changes nothing.
    assert lcp.fit_messages(fitted, budget).messages == fitted


def test_messages_that_fit_are_the_same_objects() -> None:
    messages = turn(0, "What?", "That.", "So.")
    result = lcp.fit_messages(messages, 1_000)
    assert result.is_unchanged
    assert result.note is None
    assert all(a is b for a, b in zip(result.messages, messages, strict=True))
    assert result.report.exact
    assert result.report.encoding == "o200k_base"
    assert json.loads(result.report.to_json())["schema"] == "lcp.export.v1"


def test_anthropic_messages_have_a_note() -> None:
    messages = [
        {"role": ("user", "assistant")[at % 2], "content": f"Words of turn {at}. " * 20}
        for at in range(41)
    ]
    result = lcp.fit_messages(messages, 600, model="claude-sonnet-4-5")
    assert not result.report.exact
    assert result.note
    assert "omitted" in result.note
    assert all(message["role"] != "system" for message in result.messages)
    assert result.messages[-1] is messages[-1]


def test_kept_messages_over_the_budget_are_an_error() -> None:
    messages = [{"role": "system", "content": "word " * 500}, {"role": "user", "content": "Hi"}]
    with pytest.raises(lcp.OverBudgetError, match="over the budget of 100") as error:
        lcp.fit_messages(messages, 100)
    assert error.value.code == "LCP-BUD-001"


@pytest.mark.parametrize(
    ("messages", "budget", "expected"),
    [
        ("text", 100, "messages: expected a list, got str"),
        ([{"role": "user", "content": "a"}], 0, "budget: expected a number"),
        ([{"role": "user", "content": "a"}], True, "budget: expected a number"),
        ([object()], 100, r"messages\[0\]: expected a dict"),
        ([{"role": "user", "content": {1, 2}}], 100, "a value has the type set"),
        ([{"role": "user", "content": "\ud800"}], 100, "half of a surrogate pair"),
        ([{"no": "role"}], 100, "messages"),
        ([], 100, "messages: the list is empty"),
    ],
)
def test_bad_input_names_the_argument(messages: Any, budget: int, expected: str) -> None:
    with pytest.raises((lcp.LcpError, TypeError), match=expected):
        lcp.fit_messages(messages, budget)


def test_unknown_format_lists_the_known_ones() -> None:
    with pytest.raises(lcp.UsageError, match=r'format: .*openai-chat.*got "xml"'):
        lcp.fit_messages([{"role": "user", "content": "a"}], 100, format="xml")


class Part:
    """An object of an SDK."""

    def __init__(self, **values: Any) -> None:
        self.values = values

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return self.values


def test_objects_of_sdks_are_returned_also_inside_of_dicts() -> None:
    text = Part(type="text", text="So.")
    messages = [
        {"role": "user", "content": "word " * 400},
        Part(role="assistant", content="Yes.", refusal=None),
        {"role": "assistant", "content": [text]},
        {"role": "user", "content": "And now?"},
    ]
    assert lcp.fit_messages(messages, 2_000).is_unchanged
    fitted = lcp.fit_messages(messages, 200)
    assert not fitted.is_unchanged
    assert all(message in fitted.messages for message in messages[1:])


def test_tools_of_openai_are_kept_for_models_named_claude() -> None:
    messages = [{"role": "system", "content": "Be brief."}, *turn(0, "What?", "That.", "So.")]
    result = lcp.fit_messages(messages, 1_000, model="claude-sonnet-4-5")
    assert result.is_unchanged
    with pytest.raises(lcp.UsageError, match="has no system messages"):
        lcp.fit_messages(messages[:1] + messages[-1:], 1_000, format="anthropic")


def test_removed_calls_are_reported() -> None:
    messages = turn(0, "What?", "That.", "So.")[:2]
    result = lcp.fit_messages(messages, 1_000)
    assert result.messages == messages[:1]
    assert any("without a result" in warning for warning in result.report.warnings)


def test_images_count() -> None:
    url = "https://example.org/door.png"
    image = {"type": "image_url", "image_url": {"url": url}}
    question = [{"type": "text", "text": "What is this?"}, image]
    messages = [{"role": "user", "content": question}, {"role": "assistant", "content": "A door."}]
    messages = messages * 5 + [{"role": "user", "content": "Which one sticks?"}]
    texts = lcp.fit_messages(messages, 10_000, image_tokens=0).report.used_tokens
    assert lcp.fit_messages(messages, 10_000).report.used_tokens == texts + 5 * 1_600
    result = lcp.fit_messages(messages, 4_000)
    images = json.dumps(result.messages).count(url)
    assert 1 <= images <= 2
    assert images * 1_600 < result.report.used_tokens <= 4_000
    with pytest.raises(lcp.UsageError, match="image_tokens: expected"):
        lcp.fit_messages(messages, 100, image_tokens=-1)


def test_anthropic_parts_are_unchanged_if_they_fit() -> None:
    image = {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}
    messages = [
        {"role": "user", "content": [{"type": "image", "source": image}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"},
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"}],
        },
    ]
    result = lcp.fit_messages(messages, 2_000)
    assert result.is_unchanged
    assert result.messages == messages


@pytest.mark.parametrize("name", ["model", "encoding", "format"])
def test_names_of_other_types_are_errors(name: str) -> None:
    arguments: dict[str, Any] = {name: 5}
    with pytest.raises(TypeError, match=f"{name}: expected a string, got int"):
        lcp.fit_messages([{"role": "user", "content": "a"}], 100, **arguments)


def test_next_turn_keeps_the_messages_of_the_previous_one() -> None:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    result: lcp.FitResult | None = None
    kept = fits = 0
    for at in range(40):
        messages += turn(at, f"Question {at}?", f"Line {at} of a file. " * 40, f"Answer {at}.")
        messages.append({"role": "user", "content": f"And {at}?"})
        before: list[Any] = result.messages if result else []
        result = lcp.fit_messages(messages, 3_000, headroom=0.3, previous=result)
        assert result.report.used_tokens <= 3_000
        assert result.messages[-1] is messages[-1]
        assert lcp.fit_messages(result.messages, 3_000).is_unchanged
        if result.is_appended:
            kept += 1
            assert result.messages == [*before, *messages[-5:]]
            assert json.loads(result.report.to_json())["used_tokens"] == result.report.used_tokens
        else:
            fits += 1
    # The headroom lasts for some turns.
    assert kept > fits > 1


def test_changed_messages_are_fitted_again() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
        {"role": "assistant", "content": "Hi"},
    ]
    first = lcp.fit_messages(messages, 100)
    next_turn = [*messages, {"role": "user", "content": "And now?"}]
    assert lcp.fit_messages(next_turn, 100, previous=first).is_appended
    assert not lcp.fit_messages(next_turn, 100, previous=first, model="gpt-4").is_appended
    assert not lcp.fit_messages(next_turn[1:], 100, previous=first).is_appended
    # The result must not depend on changes of its list.
    first.messages.append({"role": "assistant", "content": "Hi"})
    assert lcp.fit_messages(next_turn, 100, previous=first).messages == next_turn
    messages[0]["content"][0]["text"] = "Goodbye"
    changed = lcp.fit_messages(next_turn, 100, previous=first)
    assert not changed.is_appended
    assert changed.messages == next_turn
    same = lcp.fit_messages(next_turn, 100, previous=changed)
    assert same.is_appended
    assert same.messages == next_turn
    with pytest.raises(lcp.OverBudgetError):
        lcp.fit_messages(next_turn, 5, previous=changed)


@pytest.mark.parametrize("value", [-0.1, 1, True, "half"])
def test_headroom_is_a_part_of_the_budget(value: Any) -> None:
    with pytest.raises((lcp.UsageError, TypeError), match="headroom: expected a number"):
        lcp.fit_messages([{"role": "user", "content": "a"}], 100, headroom=value)


def test_pinned_messages_stay_complete_in_each_turn() -> None:
    messages = history(12)
    result_at = 7
    assert messages[result_at]["role"] == "tool"
    cut = lcp.fit_messages(messages, 2_500)
    assert messages[result_at] not in cut.messages
    pinned = lcp.fit_messages(messages, 2_500, pinned=[result_at], previous=cut)
    assert not pinned.is_appended
    assert pinned.report.used_tokens <= 2_500
    assert messages[result_at] in pinned.messages
    assert messages[result_at]["tool_call_id"] in [
        call["id"] for message in pinned.messages for call in message.get("tool_calls", [])
    ]
    new = [{"role": "assistant", "content": "Yes."}, {"role": "user", "content": "Why?"}]
    following = lcp.fit_messages(
        [*messages, *new], 2_500, pinned=[result_at, len(messages)], previous=pinned
    )
    assert following.is_appended
    assert messages[result_at] in following.messages
    with pytest.raises(lcp.OverBudgetError):
        lcp.fit_messages(messages, 500, pinned=range(len(messages)))


@pytest.mark.parametrize(
    ("pinned", "error", "message"),
    [
        (3, TypeError, "pinned: expected a list of indices, got int"),
        (["a"], TypeError, r"pinned\[0\]: expected an index, got str"),
        ([0, 1], lcp.UsageError, r"pinned\[1\]: expected an index below 1, got 1"),
        ([-1], lcp.UsageError, r"pinned\[0\]: expected an index below 1, got -1"),
    ],
)
def test_pinned_must_be_indices(pinned: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        lcp.fit_messages([{"role": "user", "content": "a"}], 100, pinned=pinned)


def test_previous_must_be_a_result() -> None:
    with pytest.raises(TypeError, match="previous: expected a result of fit_messages"):
        lcp.fit_messages([{"role": "user", "content": "a"}], 100, previous={})  # type: ignore[arg-type]


def test_reports_are_tables_in_notebooks() -> None:
    result = lcp.fit_messages(turn(0, "What?", "That.", "So.")[:2], 1_000)
    table = result.report._repr_html_()
    assert f"{result.report.used_tokens} of 1,000 tokens" in table
    assert "without a result" in table


def test_async_fit_is_the_same() -> None:
    messages = turn(0, "What?", "That. " * 100, "So.")
    result = asyncio.run(lcp.afit_messages(messages, 60))
    assert result.messages == lcp.fit_messages(messages, 60).messages
