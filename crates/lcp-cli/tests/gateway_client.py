"""The SDKs of Anthropic and OpenAI, which talk to a provider through the gateway.

Usage: gateway_client.py URL
"""

import json
import sys

import anthropic
import openai

URL = sys.argv[1]
ANSWER = "All is read."
SCHEMA = {"type": "object", "properties": {"file_path": {"type": "string"}}}


def read(arguments):
    name = arguments["file_path"]
    return "".join(f"{number}\tline {number} of the long file {name}\n" for number in range(150))


def ask_anthropic(prompt, stream):
    client = anthropic.Anthropic(base_url=URL, api_key="sk-ant-dummy", max_retries=0)
    messages = [{"role": "user", "content": prompt}]
    while True:
        request = {
            "model": "claude-sonnet-4-5",
            "max_tokens": 100,
            "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
            "tools": [{"name": "Read", "description": "Reads a file", "input_schema": SCHEMA}],
            "messages": messages,
        }
        assert client.messages.count_tokens(
            **{key: request[key] for key in ("model", "messages")}
        ).input_tokens
        if stream:
            with client.messages.stream(**request) as events:
                message = events.get_final_message()
        else:
            message = client.messages.create(**request)
        assert message.usage.cache_read_input_tokens == 20_000
        messages.append({"role": "assistant", "content": message.content})
        calls = [part for part in message.content if part.type == "tool_use"]
        if not calls:
            return message.content[-1].text
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": read(call.input)}
            for call in calls
        ]
        messages.append({"role": "user", "content": results})


def ask_responses(prompt, stream):
    client = openai.OpenAI(base_url=f"{URL}/v1", api_key="sk-dummy", max_retries=0)
    items = [{"role": "user", "content": prompt}]
    while True:
        tool = {"type": "function", "name": "shell", "parameters": SCHEMA, "strict": False}
        request = {"model": "gpt-5", "input": items, "tools": [tool], "store": False}
        if stream:
            events = client.responses.create(**request, stream=True)
            ends = [event.response for event in events if event.type == "response.completed"]
            (response,) = ends
        else:
            response = client.responses.create(**request)
        assert response.usage.input_tokens_details.cached_tokens == 8_000
        items += [item.model_dump(exclude_none=True) for item in response.output]
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return response.output_text
        for call in calls:
            output = read(json.loads(call.arguments))
            items.append(
                {"type": "function_call_output", "call_id": call.call_id, "output": output}
            )


def ask_chat(prompt, stream):
    client = openai.OpenAI(base_url=f"{URL}/v1", api_key="sk-dummy", max_retries=0)
    messages = [{"role": "user", "content": prompt}]
    while True:
        tool = {"type": "function", "function": {"name": "shell", "parameters": SCHEMA}}
        request = {"model": "gpt-5", "messages": messages, "tools": [tool]}
        if stream:
            usage = {"include_usage": True}
            chunks = list(client.chat.completions.create(**request, stream=True, stream_options=usage))
            assert chunks[-1].usage.prompt_tokens == 9_000
            deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
            text = "".join(delta.content or "" for delta in deltas)
            calls = [call for delta in deltas for call in delta.tool_calls or []]
        else:
            completion = client.chat.completions.create(**request)
            assert completion.usage.prompt_tokens == 9_000
            text = completion.choices[0].message.content
            calls = completion.choices[0].message.tool_calls or []
        if not calls:
            return text
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in calls
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        for call in calls:
            content = read(json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


def errors_are_those_of_the_provider():
    client = anthropic.Anthropic(base_url=URL, api_key="sk-ant-dummy", max_retries=0)
    try:
        client.messages.create(
            model="overloaded", max_tokens=1, messages=[{"role": "user", "content": "hello"}]
        )
    except anthropic.APIStatusError as error:
        assert error.status_code == 529, error
        assert error.body["error"]["message"] == "Overloaded", error
    else:
        raise AssertionError("no error")


for prompt in ("Read a.txt again.", "Read different files."):
    for ask in (ask_anthropic, ask_responses, ask_chat):
        for stream in (False, True):
            answer = ask(prompt, stream)
            assert answer == ANSWER, (ask.__name__, stream, answer)
errors_are_those_of_the_provider()
print("all is well")
