"""Random histories in the formats of the providers, and a view of them that is the same for all."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from hypothesis import strategies as st

WORDS = ["budget", "pack", "the", "a file", "日本語", "שלום", "🦀", "e\u0301", "a\tb", "\n", '"\\']
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)


@dataclass(frozen=True)
class Step:
    """A message of the model with calls, and their results."""

    thought: str | None
    remark: str | None
    #: The results of parallel calls, each with ``True`` if it has an image.
    results: list[tuple[str, bool]]
    #: ``True`` if the last call is answered first.
    is_reversed: bool


@dataclass(frozen=True)
class Turn:
    """A question of the user, and what the model did."""

    instruction: str | None
    question: str
    has_image: bool
    steps: list[Step]
    thought: str | None
    answer: str | None


RESULTS = st.builds(lambda text, lines: f"{text}\n" * lines, TEXTS, st.integers(0, 20))
STEPS = st.builds(
    Step,
    thought=st.none() | TEXTS,
    remark=st.none() | TEXTS,
    results=st.lists(
        st.tuples(RESULTS, st.sampled_from([False, False, False, True])), min_size=1, max_size=3
    ),
    is_reversed=st.booleans(),
)
TURNS = st.builds(
    Turn,
    instruction=st.none() | st.none() | TEXTS,
    question=TEXTS,
    has_image=st.booleans(),
    steps=st.lists(STEPS, max_size=2),
    thought=st.none() | TEXTS,
    answer=st.none() | TEXTS,
)
HISTORIES = st.lists(TURNS, min_size=1, max_size=6)


class Numbers:
    """Numbers that make each text and id of a history unique."""

    def __init__(self) -> None:
        self.last = 0

    def next(self) -> int:
        self.last += 1
        return self.last

    def text(self, text: str) -> str:
        return f"{self.next()}: {text}"

    def address(self) -> str:
        return f"https://example.org/{self.next()}.png"


class Call(NamedTuple):
    """A call with its result."""

    id: str
    arguments: dict[str, Any]
    result: str
    has_image: bool


def calls(step: Step, numbers: Numbers) -> list[Call]:
    """Return the calls of a step."""
    return [
        Call(
            id=f"call_{numbers.next()}",
            arguments={"path": numbers.text("a\t🦀.txt"), "lines": list(range(at * 9))},
            result=text and numbers.text(text),
            has_image=has_image,
        )
        for at, (text, has_image) in enumerate(step.results)
    ]


def in_order(step: Step, results: list[Any]) -> list[Any]:
    """Return results in the order in which they arrive."""
    return results[::-1] if step.is_reversed else results


def openai_chat(turns: list[Turn]) -> list[dict[str, Any]]:
    """Return messages of OpenAI's chat completions. Thoughts are not part of them."""
    numbers = Numbers()
    messages: list[dict[str, Any]] = []
    for turn in turns:
        if turn.instruction:
            role = "developer" if messages else "system"
            messages.append({"role": role, "content": numbers.text(turn.instruction)})
        question: Any = numbers.text(turn.question)
        if turn.has_image:
            image = {"type": "image_url", "image_url": {"url": numbers.address()}}
            question = [{"type": "text", "text": question}, image]
        messages.append({"role": "user", "content": question})
        for step in turn.steps:
            remark = numbers.text(step.remark) if step.remark else None
            step_calls = calls(step, numbers)
            tool_calls = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": "read", "arguments": json.dumps(call.arguments)},
                }
                for call in step_calls
            ]
            messages.append({"role": "assistant", "content": remark, "tool_calls": tool_calls})
            results = [
                {"role": "tool", "tool_call_id": call.id, "content": call.result}
                for call in step_calls
            ]
            messages += in_order(step, results)
        if turn.answer:
            messages.append({"role": "assistant", "content": numbers.text(turn.answer)})
    return messages


def anthropic(turns: list[Turn]) -> list[dict[str, Any]]:
    """Return messages of Anthropic. System messages are not part of them."""
    numbers = Numbers()
    messages: list[dict[str, Any]] = []

    # The roles alternate.
    def add(role: str, parts: list[dict[str, Any]]) -> None:
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += parts
        else:
            messages.append({"role": role, "content": parts})

    def image() -> dict[str, Any]:
        return {"type": "image", "source": {"type": "url", "url": numbers.address()}}

    def thinking(thought: str | None) -> list[dict[str, Any]]:
        if not thought:
            return []
        signature = f"c2lnbmVk{numbers.next()}=="
        # Some thinking is encrypted.
        if len(thought) % 4 == 0:
            return [{"type": "redacted_thinking", "data": signature}]
        return [{"type": "thinking", "thinking": thought, "signature": signature}]

    def text(text: str | None) -> list[dict[str, Any]]:
        return [{"type": "text", "text": numbers.text(text)}] if text else []

    for turn in turns:
        add("user", text(turn.question) + ([image()] if turn.has_image else []))
        for step in turn.steps:
            parts = thinking(step.thought) + text(step.remark)
            step_calls = calls(step, numbers)
            parts += [
                {"type": "tool_use", "id": call.id, "name": "read", "input": call.arguments}
                for call in step_calls
            ]
            add("assistant", parts)
            results = []
            for call in step_calls:
                content: Any = call.result
                if call.has_image:
                    content = [{"type": "text", "text": content}] if content else []
                    content.append(image())
                results.append({"type": "tool_result", "tool_use_id": call.id, "content": content})
            add("user", in_order(step, results))
        if turn.answer:
            add("assistant", thinking(turn.thought) + text(turn.answer))
    return messages


def openai_responses(turns: list[Turn]) -> list[dict[str, Any]]:
    """Return items of OpenAI's responses."""
    numbers = Numbers()
    items: list[dict[str, Any]] = []

    def image() -> dict[str, Any]:
        return {"type": "input_image", "image_url": numbers.address(), "detail": "auto"}

    def add_reasoning(thought: str | None) -> None:
        if thought:
            number = numbers.next()
            items.append(
                {
                    "type": "reasoning",
                    "id": f"rs_{number}",
                    "summary": [{"type": "summary_text", "text": thought}],
                    "encrypted_content": f"gAAAAAB{number}_-==",
                }
            )

    def add_message(text: str | None) -> None:
        if text:
            part = {"type": "output_text", "text": numbers.text(text), "annotations": []}
            items.append(
                {
                    "type": "message",
                    "id": f"msg_{numbers.next()}",
                    "role": "assistant",
                    "status": "completed",
                    "content": [part],
                }
            )

    for turn in turns:
        if turn.instruction:
            role = "system" if items else "developer"
            items.append({"role": role, "content": numbers.text(turn.instruction)})
        question: Any = numbers.text(turn.question)
        if turn.has_image:
            question = [{"type": "input_text", "text": question}, image()]
        items.append({"role": "user", "content": question})
        for step in turn.steps:
            add_reasoning(step.thought)
            add_message(step.remark)
            results = []
            for call in calls(step, numbers):
                fields = {
                    "call_id": call.id,
                    "name": "read",
                    "arguments": json.dumps(call.arguments),
                }
                items.append({"type": "function_call", **fields})
                output: Any = call.result
                if call.has_image:
                    output = [{"type": "input_text", "text": output}] if output else []
                    output.append(image())
                results.append(
                    {"type": "function_call_output", "call_id": call.id, "output": output}
                )
            items += in_order(step, results)
        if turn.answer:
            add_reasoning(turn.thought)
            add_message(turn.answer)
    return items


FORMATS: dict[str, Callable[[list[Turn]], list[dict[str, Any]]]] = {
    "openai-chat": openai_chat,
    "anthropic": anthropic,
    "openai-responses": openai_responses,
}


class Part(NamedTuple):
    """A part of a message, regardless of its format."""

    role: str
    #: ``text``, ``image``, ``thinking``, ``call`` or ``result``.
    kind: str
    #: The id of a call, or of the call that a result answers.
    id: str
    #: The text, the name and arguments, or other content as JSON.
    value: str


def parts(messages: list[dict[str, Any]]) -> list[Part]:
    """Return the parts of messages in their order."""
    return [part for message in messages for part in parts_of(message)]


def parts_of(message: dict[str, Any]) -> Iterator[Part]:
    """Return the parts of a message."""
    kind = message.get("type", "message")
    if kind == "reasoning":
        yield Part("assistant", "thinking", "", json.dumps(message, sort_keys=True))
    elif kind == "function_call":
        yield call_part(message["call_id"], message["name"], message["arguments"])
    elif kind == "function_call_output":
        yield from result_parts(message["call_id"], message["output"])
    elif message["role"] == "tool":
        yield from result_parts(message["tool_call_id"], message["content"])
    else:
        yield from content_parts(message["role"], message.get("content"))
        for call in message.get("tool_calls", []):
            function = call["function"]
            yield call_part(call["id"], function["name"], function["arguments"])


def content_parts(role: str, content: Any) -> Iterator[Part]:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for part in content or []:
        if part["type"] == "tool_use":
            arguments = json.dumps(part["input"], ensure_ascii=False, separators=(",", ":"))
            yield call_part(part["id"], part["name"], arguments)
        elif part["type"] == "tool_result":
            yield from result_parts(part["tool_use_id"], part.get("content", ""))
        elif "text" in part:
            yield Part(role, "text", "", part["text"])
        else:
            kind = "thinking" if "thinking" in part["type"] else "image"
            yield Part(role, kind, "", json.dumps(part, sort_keys=True))


def call_part(id: str, name: str, arguments: str) -> Part:
    return Part("assistant", "call", id, name + arguments)


def result_parts(id: str, content: Any) -> Iterator[Part]:
    nested = list(content_parts("tool", content))
    text = "".join(part.value for part in nested if part.kind == "text")
    yield Part("tool", "result", id, text)
    for part in nested:
        if part.kind != "text":
            yield part._replace(id=id)
