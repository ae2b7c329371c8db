"""Threads that share objects, which run at the same time without the lock of the interpreter."""

import os
import sys
import sysconfig
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import lcp

THREADS = 8
ROUNDS = 10


def run_in_threads(work: Callable[[], object]) -> list[object]:
    """Returns the results of `work`, called `ROUNDS` times in each of `THREADS` threads."""
    results: list[object] = []
    failures: list[BaseException] = []
    start = threading.Barrier(THREADS)

    def rounds() -> None:
        try:
            start.wait()
            for _ in range(ROUNDS):
                results.append(work())
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=rounds) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    return results


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED") or os.environ.get("PYTHON_GIL") == "1",
    reason="this interpreter has a lock",
)
def test_module_needs_no_lock() -> None:
    assert not sys._is_gil_enabled()  # type: ignore[attr-defined, unused-ignore]


def test_threads_share_objects(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"file{number}.py").write_text(f"def function{number}():\n    return 1\n" * 50)
    pack = lcp.Pack.from_directory(tmp_path)
    encoding = lcp.Encoding("o200k_base")
    text = "".join(f"line {number} of a text\n" for number in range(5_000))
    messages: list[dict[str, object]] = [
        {"role": "assistant" if number % 2 else "user", "content": f"{number}: " + "word " * 50}
        for number in range(100)
    ]

    def work() -> tuple[object, ...]:
        fitted = lcp.fit_messages(messages, budget=2_000, model="gpt-5")
        return (
            pack.render(budget=1_000),
            encoding.count(text),
            encoding.decode(encoding.encode(text)) == text,
            fitted.messages,
        )

    expected = work()
    results = run_in_threads(work)
    assert len(results) == THREADS * ROUNDS
    assert all(result == expected for result in results)


def test_threads_record_in_one_store(tmp_path: Path) -> None:
    numbers = iter(range(THREADS * ROUNDS))
    lock = threading.Lock()

    def work() -> object:
        with lock:
            number = next(numbers)
        session = lcp.Session(f"session {number}", store=tmp_path / "sessions.sqlite", wait=30)
        return session.record([{"role": "user", "content": f"turn {number}"}]).messages

    assert run_in_threads(work) == [1] * (THREADS * ROUNDS)
