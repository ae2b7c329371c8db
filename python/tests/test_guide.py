"""The snippets of the README and of the guide, with their outputs."""

import contextlib
import dataclasses
import doctest
import inspect
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lcp
import lcp._messages
import lcp._pack

PYTHON = Path(__file__).parent.parent
SNIPPET = re.compile(
    r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL
)


def run_snippets(page: Path, text: str) -> int:
    """Run the snippets of a page, and compare the outputs that follow them."""
    namespace: dict[str, Any] = {}
    snippets = list(SNIPPET.finditer(text))
    for snippet in snippets:
        line = text[: snippet.start(1)].count("\n")
        code = compile("\n" * line + snippet[1], str(page), "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        assert printed.getvalue().rstrip() == (snippet[2] or "").rstrip()
    return len(snippets)


@pytest.mark.parametrize("folder", [PYTHON, PYTHON.parent])
def test_readme_runs(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "retry.py").write_text("def retry_loop():\n    while True:\n        pass\n")
    monkeypatch.chdir(tmp_path)
    page = folder / "README.md"
    assert run_snippets(page, page.read_text()) == 1


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the adapters need Python 3.11")
def test_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(PYTHON.parent / "samples", tmp_path / "samples")
    monkeypatch.chdir(tmp_path)
    page = PYTHON.parent / "docs" / "python.md"
    assert run_snippets(page, page.read_text()) > 10


@pytest.mark.parametrize("module", [lcp, lcp._messages, lcp._pack])
def test_docstrings_run(module: Any) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("name", lcp.__all__)
def test_everything_has_a_docstring(name: str) -> None:
    value = getattr(lcp, name)
    if name == "__version__":
        return
    assert value.__doc__
    for key, member in vars(value).items() if isinstance(value, type) else []:
        if not key.startswith("_") and callable(getattr(value, key)):
            assert getattr(value, key).__doc__, f"{name}.{key}: {member}"


def test_import_loads_only_what_it_needs() -> None:
    code = f"import sys; sys.path[:] = {sys.path!r}; before = set(sys.modules); import lcp"
    code += "; print(*set(sys.modules) - before)"
    run = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True)
    loaded = run.stdout.split()
    assert "lcp" in loaded, run.stderr
    assert {name for name in loaded if not name.startswith("lcp")} <= {"__future__"}


def test_help_describes_each_attribute() -> None:
    public = [getattr(lcp, name) for name in lcp.__all__]
    classes = [item for item in public if isinstance(item, type)]
    described = 0
    for item in filter(dataclasses.is_dataclass, classes):
        for name in (field.name for field in dataclasses.fields(item)):
            if not name.startswith("_"):
                assert f"\n    {name}: " in (inspect.getdoc(item) or ""), (item, name)
                described += 1
    assert described > 40
    for item, name in [(lcp.LcpError, "hint"), (lcp.Session, "id")]:
        assert f"\n    {name}: " in (inspect.getdoc(item) or "")
