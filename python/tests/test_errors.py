"""Errors: each names its argument, and nothing ends the process."""

import errno
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lcp
from lcp import _lcp

HALF = "\ud800"
WRONG_TYPES: list[tuple[str, Callable[[], object]]] = [
    ("text", lambda: lcp.count(5)),  # type: ignore[arg-type]
    ("model", lambda: lcp.count("a", model=["a"])),  # type: ignore[arg-type]
    ("model", lambda: lcp.Encoding(model=5)),  # type: ignore[arg-type]
    ("name", lambda: lcp.Encoding(5)),  # type: ignore[arg-type]
    (r"texts\[1\]", lambda: lcp.Encoding().count_batch(["a", 5])),  # type: ignore[list-item]
    ("texts: ", lambda: lcp.Encoding().count_batch(5)),  # type: ignore[arg-type]
    ("ids: ", lambda: lcp.Encoding().decode(["a"])),  # type: ignore[list-item]
    ("data", lambda: lcp.Pack.from_bytes("text")),  # type: ignore[arg-type]
    ("path", lambda: lcp.Pack.open(5)),  # type: ignore[arg-type]
    ("path", lambda: lcp.Pack.from_directory(None)),  # type: ignore[arg-type]
    ("query", lambda: lcp.Pack.from_directory(".", query=5)),  # type: ignore[arg-type]
    ("mentions", lambda: lcp.Pack.from_directory(".", mentions="a")),
    ("priorities", lambda: lcp.Pack.from_directory(".", priorities=["a"])),  # type: ignore[arg-type]
    ("blocks", lambda: lcp.Pack.from_blocks({})),
    (r"blocks\[0\]", lambda: lcp.Pack.from_blocks(["a"])),  # type: ignore[list-item]
    ("budget", lambda: lcp.Pack.from_blocks([]).render("5")),  # type: ignore[arg-type]
    ("budget", lambda: lcp.Pack.from_blocks([]).render(True)),
    ("mode", lambda: lcp.Pack.from_blocks([]).render(mode=5)),  # type: ignore[arg-type]
    ("id", lambda: lcp.Session(5)),  # type: ignore[arg-type]
    ("window", lambda: lcp.Session("a", window="4")),  # type: ignore[arg-type]
    ("messages", lambda: lcp.Session("a", store="s").record("text")),
    ("handoff", lambda: lcp.Session.resume(5, store="s")),  # type: ignore[arg-type]
]
WRONG_VALUES: list[tuple[str, Callable[[], object]]] = [
    ("ids: ", lambda: lcp.Encoding().decode([-1])),
    ("text: .*surrogate", lambda: lcp.count(HALF)),
    (r"texts\[0\]: .*surrogate", lambda: lcp.Encoding().count_batch([HALF])),
    ("model: .*surrogate", lambda: lcp.Encoding(model=HALF)),
    ("query: .*surrogate", lambda: lcp.Pack.from_directory(".", query=HALF)),
    ("path: .*null", lambda: lcp.Pack.open("a\0b")),
    ("path: .*surrogate", lambda: lcp.Pack.open(HALF)),
    ("store: .*surrogate", lambda: lcp.Session("a", store="\udcff")),
    (r"blocks\[0\]: half of a surrogate", lambda: lcp.Pack.from_blocks([{"type": HALF}])),
    ("wait: expected a number of seconds", lambda: lcp.Session("a", wait=-1)),
    ("id: .*surrogate", lambda: lcp.Session(HALF)),
    ("unknown model", lambda: lcp.Encoding(model="no-such-model")),
    ("unknown model", lambda: lcp.Pack.from_blocks([]).render(5, model="no-such-model")),
    ("budget: .*-1", lambda: lcp.Pack.from_blocks([]).render(-1)),
    ("budget: .*got 4294967296", lambda: lcp.Pack.from_blocks([]).render(2**32)),
    ('mode: .*markdown.*"html"', lambda: lcp.Pack.from_blocks([]).render(mode="html")),
    ("shares: .*agent", lambda: lcp.Pack.from_blocks([]).render(9, shares="all")),
    ("dedup: .*exact", lambda: lcp.Pack.from_blocks([]).render(dedup="all")),
    ("secrets: .*redact", lambda: lcp.Pack.from_directory(".", secrets="all")),
    ("priorities: .*critical", lambda: lcp.Pack.from_directory(".", priorities={"*": "top"})),
    ("include: ", lambda: lcp.Pack.from_directory(".", include=["[a"])),
    (r"blocks\[0\]", lambda: lcp.Pack.from_blocks([{"type": "code", "path": "a"}])),
    (r"blocks\[0\]\.type", lambda: lcp.Pack.from_blocks([{"type": "cod", "content": ""}])),
    (r"blocks\[0\]: .*not JSON serializable", lambda: lcp.Pack.from_blocks([{"type": {1}}])),
]


@pytest.mark.parametrize(("name", "call"), WRONG_TYPES)
def test_wrong_types_name_the_argument(name: str, call: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match=name):
        call()


@pytest.mark.parametrize(("expected", "call"), WRONG_VALUES)
def test_wrong_values_name_the_argument(expected: str, call: Callable[[], object]) -> None:
    with pytest.raises(lcp.LcpError, match=expected) as error:
        call()
    # Hints of the command name flags, which Python does not have.
    assert "--" not in str(error.value)


def test_files_have_the_fields_of_os_errors(tmp_path: Path) -> None:
    missing = tmp_path / "missing.lcp"
    calls: list[tuple[int, Callable[[], Any]]] = [
        (errno.ENOENT, lambda: lcp.Pack.open(missing)),
        (errno.ENOENT, lambda: list(lcp.read_blocks(missing))),
        (errno.ENOENT, lambda: lcp.Pack.from_manifest(missing)),
        (errno.EISDIR, lambda: lcp.Pack.open(tmp_path)),
        (errno.ENOENT, lambda: lcp.Pack.from_blocks([]).save(tmp_path / "no" / "a.lcp")),
    ]
    for number, call in calls:
        with pytest.raises(OSError, match="cannot") as error:
            call()
        assert isinstance(error.value, lcp.FileError)
        assert error.value.errno == number
        assert str(error.value.filename).startswith(str(tmp_path))
        assert error.value.strerror
        copy = pickle.loads(pickle.dumps(error.value))
        assert (copy.errno, copy.filename, str(copy)) == (
            number,
            error.value.filename,
            str(error.value),
        )


def test_errors_are_pickled_with_their_fields() -> None:
    error = lcp.OverBudgetError("a", "LCP-BUD-001", "b")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.message, copy.code, copy.hint) == (
        lcp.OverBudgetError,
        "a",
        "LCP-BUD-001",
        "b",
    )


@pytest.mark.parametrize("is_short", [True, False])
def test_panics_are_exceptions(is_short: bool) -> None:
    with pytest.raises(lcp.LcpError, match="internal error: as asked"):
        _lcp.panic(is_short)


def test_long_texts_are_counted_and_fitted(tmp_path: Path) -> None:
    text = "a budget is a promise, and here are more words of it.\n" * 1_900_000
    assert len(text) > 100_000_000
    assert lcp.count(text) > 20_000_000
    # One character without a place to divide the text.
    assert lcp.count("x" * 10_000_000) > 1_000_000
    turn = {"role": "user", "content": "hello"}
    messages = [turn, {"role": "assistant", "content": text}, turn]
    assert lcp.fit_messages(messages, budget=1_000, model="gpt-5").report.used_tokens <= 1_000
    with pytest.raises(lcp.LimitError, match="maximum 16777216"):
        lcp.Session("long", store=tmp_path / "sessions.sqlite").record(messages)
    (tmp_path / "long.txt").write_text(text)
    pack = lcp.Pack.from_directory(tmp_path)
    assert any("long.txt" in warning for warning in pack.warnings) or pack.blocks()


def test_argument_of_the_command_that_is_not_text_is_an_error() -> None:
    command = [sys.executable, "-c", "import sys, lcp._command as c; sys.exit(c.main())"]
    failed = subprocess.run([*command, b"render", b"\xff.lcp"], capture_output=True)
    assert failed.returncode in (1, 2)
    assert b"panicked" not in failed.stderr
