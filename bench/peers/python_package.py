"""Times the Python package beside tiktoken and langchain-core.

Reads texts from standard input, a JSON list of {"path", "text"}, and prints the figures as JSON.
``TIKTOKEN_CACHE_DIR`` has the vocabulary of o200k_base.
"""

import importlib.metadata
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import lcp
import tiktoken
from langchain_core.messages import convert_to_messages, trim_messages

ROUNDS = 7
MESSAGES = 1_000
TOKENS = 200_000
BUDGET = 100_000


def best(*contenders: Callable[[], Any]) -> list[float]:
    """Return the shortest time of each contender in milliseconds, measured in turns."""
    times = [float("inf")] * len(contenders)
    for _ in range(ROUNDS):
        for at, contender in enumerate(contenders):
            start = time.perf_counter()
            contender()
            times[at] = min(times[at], (time.perf_counter() - start) * 1e3)
    return times


def total(texts: list[str], *contenders: Callable[[list[str]], Any]) -> list[float]:
    """Return the time of each contender in milliseconds. Each text is counted once, so that no
    contender has seen it before.
    """
    times = [0.0] * len(contenders)
    for at in range(ROUNDS):
        for number, contender in enumerate(contenders):
            start = time.perf_counter()
            contender(texts[at::ROUNDS])
            times[number] += (time.perf_counter() - start) * 1e3
    return times


def history(lines: list[str], tokens: int) -> list[dict[str, Any]]:
    """Return a conversation in which a model reads files, with about this number of tokens."""
    share = tokens * 4 // MESSAGES
    at = 0

    def text(tokens: int) -> str:
        nonlocal at
        chosen: list[str] = []
        while sum(map(len, chosen)) < tokens * 4:
            chosen.append(lines[at % len(lines)])
            at += 1
        return "\n".join(chosen)

    messages: list[dict[str, Any]] = [{"role": "system", "content": "Answer briefly."}]
    for turn in range((MESSAGES - 2) // 4):
        call = {
            "id": f"call_{turn}",
            "type": "function",
            "function": {"name": "read", "arguments": json.dumps({"path": f"{turn}.rs"})},
        }
        messages += [
            {"role": "user", "content": text(share // 12)},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{turn}", "content": text(share * 9 // 12)},
            {"role": "assistant", "content": text(share // 12)},
        ]
    return [*messages, {"role": "user", "content": "What do these files have in common?"}]


def turn_after(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    answer = {"role": "assistant", "content": "They read and write packs."}
    return [*messages, answer, {"role": "user", "content": "And which of them is the largest?"}]


def imports() -> list[float]:
    """Return the median time of an import and of an empty program, in milliseconds."""
    times: dict[str, list[float]] = {"import lcp": [], "pass": []}
    for _ in range(31):
        for program, all_times in times.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True)
            all_times.append((time.perf_counter() - start) * 1e3)
    return [sorted(all_times)[15] for all_times in times.values()]


def main() -> None:
    files = json.load(sys.stdin)
    tokenizer = tiktoken.get_encoding("o200k_base")
    own = lcp.Encoding("o200k_base")
    figures: dict[str, Any] = {}
    for kind, suffix in (("code", ".rs"), ("prose", ".md")):
        texts = [file["text"] for file in files if file["path"].endswith(suffix)]
        half = len(texts) // 2
        figures[f"count {kind}"] = total(
            texts[:half],
            lambda texts: [own.count(it) for it in texts],
            lambda texts: [len(tokenizer.encode_ordinary(it)) for it in texts],
        )
        figures[f"batch {kind}"] = total(
            texts[half:],
            own.count_batch,
            lambda texts: tokenizer.encode_ordinary_batch(texts, num_threads=2),
        )
        counts = [len(tokenizer.encode_ordinary(text)) for text in texts]
        assert own.count_batch(texts) == counts

    lines = [line for file in files for line in file["text"].splitlines() if line.strip()]
    messages = history(lines, TOKENS)
    others = convert_to_messages(messages)

    def count(messages: list[Any]) -> int:
        return sum(len(tokenizer.encode_ordinary(str(it.content))) + 4 for it in messages)

    def trim() -> list[Any]:
        return trim_messages(
            others,
            max_tokens=BUDGET,
            token_counter=count,
            strategy="last",
            start_on="human",
            include_system=True,
        )

    first = lcp.fit_messages(messages, BUDGET, model="gpt-5")
    later = turn_after(messages)
    figures["fit"] = best(lambda: lcp.fit_messages(messages, BUDGET, model="gpt-5"), trim)
    figures["next"] = best(
        lambda: lcp.fit_messages(later, BUDGET, model="gpt-5", previous=first),
        lambda: lcp.fit_messages(messages, BUDGET, model="gpt-5"),
    )
    next_turn = lcp.fit_messages(later, BUDGET, model="gpt-5", previous=first)
    assert next_turn.is_appended
    for result in (first, next_turn):
        assert count(convert_to_messages(result.messages)) <= BUDGET
    figures["tokens"] = {
        "input": lcp.fit_messages(messages, 10 * TOKENS, model="gpt-5").report.used_tokens,
        "fitted": first.report.used_tokens,
        "trimmed": count(trim()),
    }
    figures["import"] = imports()
    names = ("tiktoken", "langchain-core")
    figures["versions"] = {name: importlib.metadata.version(name) for name in names}
    print(json.dumps(figures))


main()
