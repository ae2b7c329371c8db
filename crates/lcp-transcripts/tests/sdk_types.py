"""Validates requests with the types of the providers' own SDKs. Reads a request per line: its API, a
space, and its JSON."""

import sys
from typing import Iterable, Union

import pydantic
from anthropic.types import MessageParam, TextBlockParam
from google.genai.types import Content
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam

CHECKS = {
    "openai": [("messages", Iterable[ChatCompletionMessageParam])],
    "openai-responses": [("instructions", str), ("input", Iterable[ResponseInputItemParam])],
    "anthropic": [
        ("system", Union[str, Iterable[TextBlockParam]]),
        ("messages", Iterable[MessageParam]),
    ],
    "gemini": [("systemInstruction", Content), ("contents", list[Content])],
}
CHECKS = {
    api: [(key, pydantic.TypeAdapter(of_type)) for key, of_type in checks]
    for api, checks in CHECKS.items()
}


def each(value):
    """Consumes what pydantic validates lazily."""
    if isinstance(value, dict):
        for part in value.values():
            each(part)
    elif not isinstance(value, (str, bytes)) and hasattr(value, "__iter__"):
        for part in value:
            each(part)


count = 0
for line in sys.stdin:
    api, _, json = line.partition(" ")
    request = pydantic.TypeAdapter(dict).validate_json(json)
    for key, adapter in CHECKS[api]:
        if key in request:
            try:
                each(adapter.validate_python(request[key]))
            except pydantic.ValidationError as error:
                sys.exit(f"{api} {key}: {error.errors()[:3]}\n{json[:2000]}")
    count += 1
print(count, "requests")
