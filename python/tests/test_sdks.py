"""Objects of the SDKs of OpenAI and Anthropic."""

import json
from functools import partial
from typing import Any

import pytest

pytest.importorskip("anthropic")
pytest.importorskip("openai")

import anthropic
import httpx2
import openai
from anthropic.types import (
    ContentBlock,
    Message,
    MessageParam,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
    Usage,
)
from generated_histories import FORMATS, HISTORIES, Step, Turn
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessage, ChatCompletionMessageParam
from openai.types.responses import (
    ParsedResponseFunctionToolCall,
    ResponseFunctionToolCall,
    ResponseInputParam,
    ResponseOutputMessage,
    ResponseReasoningItem,
)
from pydantic import BaseModel, TypeAdapter

import lcp

BLOCKS: TypeAdapter[Any] = TypeAdapter(list[ContentBlock])
#: The parameter types of the APIs, by format.
PARAMETERS: dict[str, TypeAdapter[Any]] = {
    "openai-chat": TypeAdapter(list[ChatCompletionMessageParam]),
    "anthropic": TypeAdapter(list[MessageParam]),
    "openai-responses": TypeAdapter(ResponseInputParam),
}
ITEMS: dict[str, type[BaseModel]] = {
    "function_call": ResponseFunctionToolCall,
    "message": ResponseOutputMessage,
    "reasoning": ResponseReasoningItem,
}

each_format = pytest.mark.parametrize("format", FORMATS)


def to_object(message: dict[str, Any], format: str) -> Any:
    """Return a message of the model as its SDK does: an object, or a dict with objects."""
    item = ITEMS.get(message.get("type", ""))
    if item is not None:
        return item.model_validate(message)
    if message.get("role") != "assistant":
        return message
    if format == "anthropic":
        return {"role": "assistant", "content": BLOCKS.validate_python(message["content"])}
    return ChatCompletionMessage.model_validate(message)


def to_json(value: Any) -> Any:
    """Return the JSON that the SDKs send for a value."""

    def convert(value: BaseModel) -> Any:
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)

    return json.loads(json.dumps(value, default=convert))


def send(messages: list[Any], format: str) -> list[Any]:
    """Send messages with the SDK, and return them as the server receives them."""
    requests: list[dict[str, Any]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(json.loads(request.content))
        return httpx2.Response(500, json={})

    transport = httpx2.MockTransport(answer)
    if format == "anthropic":
        http = anthropic.DefaultHttpxClient(transport=transport)
        claude = anthropic.Anthropic(api_key="key", max_retries=0, http_client=http)
        with pytest.raises(anthropic.InternalServerError):
            claude.messages.create(model="claude-sonnet-5", max_tokens=9, messages=messages)
    else:
        http = openai.DefaultHttpxClient(transport=transport)
        client = openai.OpenAI(api_key="key", max_retries=0, http_client=http)
        create: Any = partial(client.responses.create, input=messages)
        if format == "openai-chat":
            create = partial(client.chat.completions.create, messages=messages)
        with pytest.raises(openai.InternalServerError):
            create(model="gpt-5")
    (request,) = requests
    sent: list[Any] = request.get("messages") or request["input"]
    return sent


@each_format
@settings(deadline=None, max_examples=20, derandomize=True)
@given(turns=HISTORIES, budget=st.integers(300, 2_500))
def test_objects_and_dicts_have_the_same_fit(format: str, turns: list[Turn], budget: int) -> None:
    objects = [to_object(message, format) for message in FORMATS[format](turns)]
    # Some items are counted as JSON, so their fields have the same order.
    dicts = to_json(objects)
    try:
        expected = lcp.fit_messages(dicts, budget, format=format, image_tokens=100)
    except lcp.OverBudgetError:
        with pytest.raises(lcp.OverBudgetError):
            lcp.fit_messages(objects, budget, format=format, image_tokens=100)
        return
    result = lcp.fit_messages(objects, budget, format=format, image_tokens=100)
    assert to_json(result.messages) == expected.messages
    assert result.note == expected.note
    assert result.report.used_tokens == expected.report.used_tokens
    # Unchanged messages are the given objects.
    unchanged = [any(it is message for message in dicts) for it in expected.messages]
    same = [any(it is message for message in objects) for it in result.messages]
    assert same == unchanged


def history(format: str, turns: int) -> list[Any]:
    """Return a history with the objects of a model in each turn."""
    step = Step("I have to read both. ", "I read them.", [("line\n" * 40, False)] * 2, False)
    turn = Turn(None, "What do both say?", False, [step], "They are long.", "They repeat.")
    dicts = FORMATS[format]([turn] * turns + [Turn(None, "And now?", False, [], None, None)])
    return [to_object(message, format) for message in dicts]


@each_format
@pytest.mark.parametrize("budget", [400, 1_000, 100_000])
def test_fitted_objects_can_be_sent(format: str, budget: int) -> None:
    messages = history(format, 4)
    result = lcp.fit_messages(messages, budget, format=format)
    assert result.is_unchanged == (budget == 100_000)
    sent = send(result.messages, format)
    assert sent == to_json(result.messages)
    # Pydantic validates contents when they are read.
    for message in PARAMETERS[format].validate_python(sent):
        content = message.get("content")
        assert isinstance(content, str | None) or list(content)


def test_complete_responses_of_anthropic_become_messages() -> None:
    content: list[ContentBlock] = [
        ThinkingBlock(type="thinking", thinking="Hm.", signature="c2lnbmVk"),
        TextBlock(type="text", text="I read it.", citations=None),
        ToolUseBlock(type="tool_use", id="toolu_1", name="read", input={"path": "a\t🦀.txt"}),
    ]
    response = Message(
        id="msg_1",
        type="message",
        role="assistant",
        model="claude-sonnet-5",
        content=content,
        stop_reason="tool_use",
        stop_sequence=None,
        usage=Usage(input_tokens=5, output_tokens=6),
    )
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "line\n" * 300}
    messages = [
        {"role": "user", "content": "What does it say?"},
        response,
        {"role": "user", "content": [answer]},
    ]
    for budget in (200, 100_000):
        fitted = lcp.fit_messages(messages, budget, model="claude-sonnet-5").messages
        # The API takes no fields that only responses have.
        assert send(fitted, "anthropic")[1] == {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"},
                {"type": "text", "text": "I read it."},
                {
                    "type": "tool_use",
                    "id": "toolu_1",
                    "name": "read",
                    "input": {"path": "a\t🦀.txt"},
                },
            ],
        }


def test_parsed_arguments_are_not_sent() -> None:
    call = ParsedResponseFunctionToolCall(
        type="function_call",
        call_id="call_1",
        name="read",
        arguments=json.dumps({"path": "a" * 2_000}),
        parsed_arguments={"path": "a" * 2_000},
    )
    messages = [
        {"role": "user", "content": "What does it say?"},
        call,
        {"type": "function_call_output", "call_id": "call_1", "output": "It sticks."},
        {"role": "user", "content": "And now?"},
    ]
    for budget in (100, 100_000):
        fitted = lcp.fit_messages(messages, budget).messages
        assert set(send(fitted, "openai-responses")[1]) == {
            "type",
            "call_id",
            "name",
            "arguments",
        }
