"""Messages within a budget."""

import json
from typing import Any

import pytest
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
    """Count the texts and calls of messages, without LCP's own sums."""
    total = 0
    for message in messages:
        total += lcp.count(message.get("content") or "")
        for call in message.get("tool_calls", []):
            total += lcp.count(call["function"]["name"] + call["function"]["arguments"])
    return total


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
    with pytest.raises(lcp.LcpError, match=expected):
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
    result = lcp.fit_messages(messages, 1_000)
    assert result.is_unchanged
    assert result.messages == messages


@pytest.mark.parametrize("name", ["model", "encoding", "format"])
def test_names_of_other_types_are_errors(name: str) -> None:
    arguments: dict[str, Any] = {name: 5}
    with pytest.raises(lcp.UsageError, match=f"{name}: expected a string, got int"):
        lcp.fit_messages([{"role": "user", "content": "a"}], 100, **arguments)
