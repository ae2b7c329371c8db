"""The examples, run as users run them, and compared with the library and plain Python."""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import lcp
import pyarrow.parquet as pq
import pytest

EXAMPLES = Path(__file__).parent.parent
BUDGET = 2_000
ROWS = 600


def run(script: str, *arguments: object) -> str:
    command = [sys.executable, str(EXAMPLES / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parquet files in which most documents have duplicates, in other files and projects."""
    folder = tmp_path_factory.mktemp("corpus") / "documents"
    source = EXAMPLES.parent / "rfcs"
    run("documents.py", source, "--rows", ROWS, "--files", 3, "--output", folder)
    return folder


def projects(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the distinct documents of each project, by plain Python."""
    rows = pq.read_table(folder).to_pylist()
    assert len(rows) == ROWS
    rows.sort(key=lambda row: (row["project"], row["path"]))
    distinct = {row["text"]: row for row in reversed(rows)}
    grouped = defaultdict(list)
    for row in sorted(distinct.values(), key=lambda row: row["path"]):
        grouped[row["project"]].append(row)
    return grouped


@pytest.mark.parametrize("script", ["plain.py", "ray/corpus.py", "spark/corpus.py"])
@pytest.mark.parametrize("workers", [1, 2])
def test_output_is_that_of_the_library(
    script: str, workers: int, documents: Path, tmp_path: Path
) -> None:
    output = tmp_path / "output"
    options = ["--budget", BUDGET, "--workers", workers]
    printed = run(script, "--input", documents, "--output", output, *options)

    expected = projects(documents)
    contexts = {row["project"]: row for row in pq.read_table(output / "contexts").to_pylist()}
    assert contexts.keys() == expected.keys()
    assert {path.stem for path in (output / "packs").iterdir()} == expected.keys()
    for project, rows in expected.items():
        pack = lcp.Pack.from_files({row["path"]: row["text"] for row in rows})
        assert lcp.Pack.open(output / "packs" / f"{project}.lcp").to_bytes() == pack.to_bytes()
        context = contexts[project]
        assert context["documents"] == len(rows)
        assert context["tokens"] == sum(lcp.count(row["text"]) for row in rows)
        assert context["context"] == pack.render(BUDGET, mode="markdown", model="gpt-5")
        assert lcp.count(context["context"]) <= BUDGET

    distinct = sum(map(len, expected.values()))
    assert 0 < distinct < ROWS
    assert f"{ROWS} documents, {distinct} of them distinct" in printed
    assert re.search(rf"^{len(expected)} packs, \d+ tokens$", printed, re.MULTILINE)
