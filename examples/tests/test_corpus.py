"""The examples, run as users run them, and compared with the library and plain Python."""

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lcp
import pyarrow.parquet as pq
import pytest
from moto.server import ThreadedMotoServer
from pyarrow.fs import S3FileSystem, copy_files

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


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3FileSystem]:
    """Start an S3 server with a bucket. Environment variables lead the programs to it."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    # Unlike from_uri, this constructor does not read AWS_ENDPOINT_URL.
    files = S3FileSystem(endpoint_override=url, allow_bucket_creation=True)
    files.create_dir("bucket")
    yield files
    server.stop()


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
    check(documents, output, printed)


@pytest.mark.parametrize("script", ["ray/corpus.py", "spark/corpus.py"])
def test_bucket_output_is_that_of_the_library(
    script: str, documents: Path, tmp_path: Path, bucket: S3FileSystem
) -> None:
    # Buckets outlive the server, so each script has its own folder. The slash at the end must not
    # create an empty name.
    folder = f"bucket/{Path(script).parent}"
    options = ["--budget", BUDGET, "--workers", 2]
    printed = run(script, "--input", documents, "--output", f"s3://{folder}/", *options)

    output = tmp_path / "output"
    copy_files(folder, str(output), source_filesystem=bucket)
    check(documents, output, printed)


def check(documents: Path, output: Path, printed: str) -> None:
    """Compare the output with what the library returns when it is called directly."""
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


@pytest.mark.parametrize("script", ["ray/corpus.py", "spark/corpus.py"])
def test_existing_contexts_are_refused(script: str, documents: Path, tmp_path: Path) -> None:
    (tmp_path / "contexts").mkdir()
    command = [sys.executable, EXAMPLES / script, "--input", documents, "--output", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    message = f"cannot write {tmp_path}/contexts: it already exists\nhint: pass another --output\n"
    assert message in done.stderr
