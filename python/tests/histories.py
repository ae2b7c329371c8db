"""Histories for the tests of adapters."""

import json
from typing import Any


def call(turn: int) -> dict[str, Any]:
    arguments = json.dumps({"path": f"{turn}.txt", "lines": list(range(20))})
    return {
        "id": f"call_{turn}",
        "type": "function",
        "function": {"name": "read", "arguments": arguments},
    }


def history(turns: int) -> list[dict[str, Any]]:
    """Return messages of OpenAI: a system message, turns with a call, and a question."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Answer briefly."}]
    for turn in range(turns):
        messages += [
            {"role": "user", "content": f"What does file {turn} say about the door?"},
            {"role": "assistant", "content": "I read it.", "tool_calls": [call(turn)]},
            {
                "role": "tool",
                "tool_call_id": f"call_{turn}",
                "content": f"line {turn} of the file\n" * 40,
            },
            {"role": "assistant", "content": f"It repeats line {turn}."},
        ]
    return [*messages, {"role": "user", "content": "And what do all of them say?"}]
