"""LangChain and LangGraph."""

import asyncio
import json
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain", reason="needs Python 3.11")

import histories
import tiktoken_files
from hypothesis import given as given_by
from hypothesis import settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
    trim_messages,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

import lcp
from lcp.adapters.langchain import ContextMiddleware, fit, pre_model_hook, token_counter
from lcp.adapters.langgraph import RecordingSaver


class Model(GenericFakeChatModel):
    """A model that answers with a fixed text, and remembers what it was sent."""

    sent: list[list[BaseMessage]] = []  # noqa: RUF012

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self.sent.append(messages)
        return super()._generate(messages, *args, **kwargs)


def model(answers: int = 20) -> Model:
    return Model(messages=iter(AIMessage(f"Answer {at}") for at in range(answers)), sent=[])


def messages(turns: int) -> list[BaseMessage]:
    converted = convert_to_messages(histories.history(turns))
    for at, message in enumerate(converted):
        message.id = f"m{at}"
    return converted


def test_messages_that_fit_are_the_same_objects() -> None:
    given = messages(3)
    assert all(a is b for a, b in zip(fit(given, 100_000), given, strict=True))


def test_fitted_messages_stay_within_the_budget_and_in_pairs() -> None:
    given = messages(12)
    count = token_counter("gpt-5")
    fitted = fit(given, 1_500, model="gpt-5")
    assert count(fitted) <= 1_500 < count(given)
    assert fitted[0] is given[0]
    assert fitted[-1] is given[-1]
    calls = [call["id"] for it in fitted if isinstance(it, AIMessage) for call in it.tool_calls]
    assert calls == [it.tool_call_id for it in fitted if isinstance(it, ToolMessage)]
    assert calls
    # Shortened messages keep their IDs and other fields.
    assert {it.id for it in fitted if isinstance(it, ToolMessage)} <= {it.id for it in given}
    assert any(isinstance(it, SystemMessage) and "omitted" in it.content for it in fitted[1:])
    assert count(fit(fitted, 1_500, model="gpt-5")) == count(fitted)


def test_counter_counts_as_fitting_does() -> None:
    given = messages(3)
    used = lcp.fit_messages(histories.history(3), 100_000).report.used_tokens
    assert token_counter()(given) == used
    trimmed = trim_messages(
        given, max_tokens=600, token_counter=token_counter(), include_system=True, start_on="human"
    )
    assert 0 < len(trimmed) < len(given)
    assert token_counter()(trimmed) <= 600


def test_thinking_is_kept_or_left_out() -> None:
    thinking = {"type": "thinking", "thinking": "Hm. " * 50, "signature": "c2lnbmVk"}
    answer = AIMessage([thinking, {"type": "text", "text": "Yes."}])
    given = [HumanMessage("What? " * 300), answer, HumanMessage("And now?")]
    assert fit(given, 5_000)[1] is answer
    for message in fit(given, 150):
        blocks = message.content if isinstance(message.content, list) else []
        assert all(block == thinking for block in blocks if "thinking" in block)


def test_results_inside_of_messages_are_an_error() -> None:
    result = {"type": "tool_result", "tool_use_id": "a", "content": "b"}
    with pytest.raises(lcp.UsageError, match=r"messages\[0\]: tool results"):
        fit([HumanMessage([result, {"type": "text", "text": "And?"}])], 100)


def test_middleware_limits_what_the_model_gets() -> None:
    fake = model()
    agent: Any = create_agent(
        fake,
        tools=[],
        system_prompt="Be kind.",
        middleware=[ContextMiddleware(900, model="gpt-5")],
    )
    given = messages(12)[1:]
    state = agent.invoke({"messages": given})
    assert len(state["messages"]) == len(given) + 1
    sent = fake.sent[0]
    assert token_counter()(sent) <= 900
    assert sent[0].content == "Be kind."
    assert sent[-1].content == given[-1].content
    state = asyncio.run(agent.ainvoke({"messages": given}))
    assert token_counter()(fake.sent[1]) <= 900


def test_hook_limits_what_the_model_gets() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from langgraph.prebuilt import create_react_agent

        fake = model()
        agent: Any = create_react_agent(fake, [], pre_model_hook=pre_model_hook(900))
    given = messages(12)
    state = agent.invoke({"messages": given})
    assert len(state["messages"]) == len(given) + 1
    assert token_counter()(fake.sent[0]) <= 900


def graph(saver: Any) -> Any:
    fake = model()
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [fake.invoke(state["messages"])]})
    builder.add_edge(START, "model")
    return builder.compile(checkpointer=saver)


def test_threads_are_recorded_as_sessions(tmp_path: Path) -> None:
    saver = RecordingSaver(InMemorySaver(), store=tmp_path / "sessions.sqlite", model="gpt-5")
    compiled = graph(saver)
    config = {"configurable": {"thread_id": "door"}}
    for at in range(3):
        compiled.invoke({"messages": [HumanMessage(f"Question {at}")]}, config)
    asyncio.run(compiled.ainvoke({"messages": [HumanMessage("Question 3")]}, config))
    assert saver.session("door").status().messages == 8
    # The checkpoints are those of the other checkpointer.
    assert len(compiled.get_state(config).values["messages"]) == 8
    assert len(list(compiled.get_state_history(config))) == 12
    first = compiled.get_state(config).values["messages"][0]
    with pytest.warns(UserWarning, match="thread 'door' is not recorded further"):
        compiled.update_state(config, {"messages": [RemoveMessage(id=first.id)]})
    saver.delete_thread("door")
    assert saver.get_tuple({"configurable": {"thread_id": "door"}}) is None
    assert saver.session("door").status().messages == 8


@settings(deadline=None, max_examples=40)
@given_by(
    sizes=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 200)), max_size=8),
    budget=st.integers(150, 2_000),
)
def test_laws_hold_for_every_history(sizes: list[tuple[int, int]], budget: int) -> None:
    given: list[BaseMessage] = [SystemMessage("Be brief.")]
    for turn, (question, lines) in enumerate(sizes):
        call: Any = {"id": f"call_{turn}", "name": "read", "args": {"turn": turn}}
        given += [
            HumanMessage(f"Question {turn}. " + "word " * question),
            AIMessage("", tool_calls=[call]),
            ToolMessage(f"line {turn}\n" * lines, tool_call_id=call["id"]),
            AIMessage(f"Answer {turn}."),
        ]
    given.append(HumanMessage("And now?"))
    fitted = fit(given, budget)
    texts = [str(it.content) for it in fitted]
    calls = [
        it for message in fitted if isinstance(message, AIMessage) for it in message.tool_calls
    ]
    texts += [f"{it['name']}{json.dumps(it['args'])}" for it in calls]
    assert tiktoken_files.count(texts) <= budget
    results = [it.tool_call_id for it in fitted if isinstance(it, ToolMessage)]
    assert [it["id"] for it in calls] == results == sorted(results)
    # What did not change is the same object, in the same order.
    same = [at for it in fitted for at, original in enumerate(given) if it is original]
    assert same == sorted(same)
    assert {0, len(given) - 1} <= set(same)
    assert [str(it.content) for it in fit(fitted, budget)] == [str(it.content) for it in fitted]


def test_next_turn_extends_the_messages_of_the_turn_before() -> None:
    hook = pre_model_hook(1_500, model="gpt-5")

    def sent(given: list[BaseMessage]) -> list[Any]:
        return [it.model_dump() for it in hook({"messages": given})["llm_input_messages"]]

    given, other = messages(12), messages(14)[1:]
    # The beginning of a conversation does not replace its newest fit.
    first, other_first, _ = sent(given), sent(other), sent(given[:2])
    assert len(first) < len(given)
    new = [AIMessage("They repeat their line."), HumanMessage("Why?")]
    sent_new = [it.model_dump() for it in new]
    assert sent([*given, *new]) == [*first, *sent_new]
    # The hook remembers other conversations, too.
    assert sent([*other, *new]) == [*other_first, *sent_new]
