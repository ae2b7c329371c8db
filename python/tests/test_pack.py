"""Packs, and the command."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import lcp


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("door", "table", "sail"):
        lines = "".join(f"def {name}_{at}():\n    return {at}\n\n\n" for at in range(200))
        (tmp_path / f"{name}.py").write_text(lines)
    (tmp_path / "hinge.py").write_text("def turn_the_hinge():\n    return True\n")
    return tmp_path


def test_query_decides_what_a_budget_shows(folder: Path) -> None:
    pack = lcp.Pack.from_directory(folder, query="why does the hinge not turn?")
    for mode in ("xml", "markdown", "minimal"):
        text = pack.render(400, mode=mode)
        assert "def turn_the_hinge():" in text
        assert lcp.count(text) <= 400
    assert "def sail_199():" in pack.render()


def test_packs_are_saved_and_read(folder: Path, tmp_path: Path) -> None:
    pack = lcp.Pack.from_directory(folder)
    path = tmp_path / "packs.lcp"
    pack.save(path)
    assert lcp.Pack.open(path).to_bytes() == pack.to_bytes() == path.read_bytes()
    assert lcp.Pack.from_bytes(pack.to_bytes()).render(500) == pack.render(500)
    command = [sys.executable, "-c", "import sys, lcp._command as c; sys.exit(c.main())"]
    run = [*command, "render", str(path), "--budget", "500"]
    printed = subprocess.run(run, check=True, capture_output=True, text=True)
    assert printed.stdout == pack.render(500)


def test_exit_codes_of_the_command() -> None:
    command = [sys.executable, "-c", "import sys, lcp._command as c; sys.exit(c.main())"]
    failed = subprocess.run([*command, "render", "missing.lcp"], capture_output=True, text=True)
    assert failed.returncode == 1
    assert "missing.lcp" in failed.stderr
    assert subprocess.run([*command, "--no-such-flag"], capture_output=True).returncode == 2


def test_bad_packs_and_arguments_are_errors(tmp_path: Path) -> None:
    with pytest.raises(lcp.MalformedError):
        lcp.Pack.from_bytes(b"no pack")
    with pytest.raises(lcp.FileError, match=r"missing\.lcp"):
        lcp.Pack.open(tmp_path / "missing.lcp")
    (tmp_path / "a.py").write_text("a = 1\n")
    pack = lcp.Pack.from_directory(tmp_path)
    with pytest.raises(lcp.UsageError, match="path: no folder"):
        lcp.Pack.from_directory(tmp_path / "missing")
    with pytest.raises(lcp.UsageError, match="budget: expected"):
        pack.render(-1)
    with pytest.raises(lcp.UsageError, match=r'mode: .*markdown.*got "html"'):
        pack.render(mode="html")


def test_transcripts_are_packed() -> None:
    messages = [
        {"role": "assistant" if at % 2 else "user", "content": f"Words of turn {at}. " * 20}
        for at in range(61)
    ]
    log = "\n".join(
        json.dumps({"type": message["role"], "message": message, "sessionId": "s"})
        for message in messages
    )
    for transcript in (json.dumps(messages), log.encode()):
        pack = lcp.Pack.from_transcript(transcript)
        text = pack.render(500, mode="minimal")
        assert "Words of turn 60." in text
        assert "Words of turn 9." not in text
        assert lcp.count(text) <= 500
    key = "".join(["AKIA", "Q3EGRIO5LWVNVJ2B"])
    text = f"# User\n\nMy key is {key}.\n"
    pack = lcp.Pack.from_transcript(text, format="markdown")
    assert key not in pack.render()
    assert any("secret" in warning for warning in pack.warnings)
    assert key in lcp.Pack.from_transcript(text, secrets="off").render()
    with pytest.raises(lcp.UsageError, match="format: expected one of openai-chat"):
        lcp.Pack.from_transcript("[]", format="pdf")
    with pytest.raises(lcp.MalformedError, match="line 1"):
        lcp.Pack.from_transcript('[{"role": ')
    with pytest.raises(TypeError, match="transcript: expected a string"):
        lcp.Pack.from_transcript(5)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


def test_replaced_secrets_are_reported(tmp_path: Path) -> None:
    key = "".join(["AKIA", "Q3EGRIO5LWVNVJ2B"])
    (tmp_path / "key.py").write_text(f'KEY = "{key}"\n')
    pack = lcp.Pack.from_directory(tmp_path)
    assert key not in pack.render()
    assert any("secret" in warning for warning in pack.warnings)


def test_files_in_memory_are_packed_like_a_folder(folder: Path) -> None:
    files = {path.name: path.read_text() for path in folder.iterdir()}
    query = "why does the hinge not turn?"
    in_memory = lcp.Pack.from_files(files, query=query)
    assert in_memory.to_bytes() == lcp.Pack.from_directory(folder, query=query).to_bytes()
    latin = lcp.Pack.from_files({"a.txt": "Füße".encode("latin-1")}, priorities={"*": "high"})
    blocks = {block.label: block for block in latin.blocks()}
    assert (blocks["a.txt"].content, blocks["a.txt"].priority) == ("Füße", "high")
    with pytest.raises(lcp.UsageError, match="files: expected at least one file"):
        lcp.Pack.from_files({})
    with pytest.raises(TypeError, match=r"files\['a'\]: expected a string"):
        lcp.Pack.from_files({"a": 5})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="files: expected a dict"):
        lcp.Pack.from_files(["a"])  # type: ignore[arg-type]
