"""Pydantic AI."""

from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="needs Python 3.11")

import tiktoken_files
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from lcp.adapters.pydantic_ai import fit, history_processor


def history(turns: int) -> list[ModelMessage]:
    messages: list[ModelMessage] = []
    for turn in range(turns):
        system = [SystemPromptPart("Answer briefly.")] if turn == 0 else []
        lines = [f"line {turn} of the file"] * 40
        messages += [
            ModelRequest([*system, UserPromptPart(f"What does file {turn} say?")]),
            ModelResponse(
                [
                    ThinkingPart("I have to read it.", signature="c2lnbmVk"),
                    TextPart("I read it."),
                    ToolCallPart("read", {"path": f"{turn}.txt"}, f"call_{turn}"),
                ]
            ),
            ModelRequest([ToolReturnPart("read", lines, f"call_{turn}")]),
            ModelResponse([TextPart(f"It repeats line {turn}.")]),
        ]
    return [*messages, ModelRequest([UserPromptPart("And what do all of them say?")])]


def texts(messages: list[ModelMessage]) -> list[str]:
    result: list[str] = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                result += [part.tool_name, part.args_as_json_str()]
            elif isinstance(part, ToolReturnPart):
                result.append(part.model_response_str())
            else:
                result.append(str(getattr(part, "content", "")))
    return result


def test_messages_that_fit_are_the_same_objects() -> None:
    given = history(3)
    assert all(a is b for a, b in zip(fit(given, 100_000), given, strict=True))


@pytest.mark.parametrize("budget", [300, 800, 1_500, 2_500])
def test_fitted_messages_stay_within_the_budget_and_in_pairs(budget: int) -> None:
    given = history(12)
    fitted = fit(given, budget, model="gpt-5")
    assert tiktoken_files.count(texts(fitted)) <= budget
    assert isinstance(fitted[0], ModelRequest)
    assert fitted[0].parts[0] is given[0].parts[0]
    assert fitted[-1] is given[-1]
    calls = [it.tool_call_id for m in fitted for it in m.parts if isinstance(it, ToolCallPart)]
    results = [it.tool_call_id for m in fitted for it in m.parts if isinstance(it, ToolReturnPart)]
    assert calls == results
    assert calls or budget < 800
    thinking = [it for m in fitted for it in m.parts if isinstance(it, ThinkingPart)]
    assert all(part.signature == "c2lnbmVk" for part in thinking)
    assert texts(fit(fitted, budget, model="gpt-5")) == texts(fitted)


def test_images_remain() -> None:
    image = ImageUrl("https://example.org/door.png")
    prompt = UserPromptPart(["What is this?", image])
    given: list[ModelMessage] = [
        ModelRequest([UserPromptPart("word " * 500)]),
        ModelResponse([TextPart("So.")]),
        ModelRequest([prompt]),
    ]
    assert fit(given, 1_750)[-1] is given[-1]


def test_agents_send_what_fits() -> None:
    sent: list[list[ModelMessage]] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        sent.append(list(messages))
        return ModelResponse([TextPart("They repeat.")])

    processor: Any = history_processor(900, model="gpt-5")
    agent = Agent(FunctionModel(answer), capabilities=[ProcessHistory(processor)])
    result = agent.run_sync("And now?", message_history=history(12)[:-1])
    assert result.output == "They repeat."
    assert tiktoken_files.count(texts(sent[0])) <= 900
    assert sent[0][-1].parts[-1].content == "And now?"  # type: ignore[union-attr]


def test_thinking_is_unchanged_or_omitted() -> None:
    messages = history(8)
    seen = 0
    for budget in range(300, 4_000, 100):
        parts = [part for message in fit(messages, budget) for part in message.parts]
        thinking = [part for part in parts if isinstance(part, ThinkingPart)]
        assert all(part.signature == "c2lnbmVk" for part in thinking)
        assert not any("c2lnbmVk" in part.content for part in parts if isinstance(part, TextPart))
        seen += len(thinking)
    assert seen


def test_next_turn_extends_the_messages_of_the_turn_before() -> None:
    process = history_processor(1_500, model="gpt-5")
    given = history(12)
    first = process(given)
    answer, question = ModelResponse([TextPart("No.")]), ModelRequest([UserPromptPart("Why?")])
    assert len(first) < len(given)
    following = process([*given, answer, question])
    assert following[-2] is answer
    assert following[-1] is question
    assert texts(following[:-2]) == texts(first)
