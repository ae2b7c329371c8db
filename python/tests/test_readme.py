"""The example of the README."""

from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def test_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "retry.py").write_text("def retry_loop():\n    while True:\n        pass\n")
    monkeypatch.chdir(tmp_path)
    example = README.read_text().split("```python\n")[1].split("```")[0]
    assert "lcp.fit_messages" in example
    exec(compile(example, str(README), "exec"), {})
