"""Runs the examples on the same documents with one and two workers, and prints their speeds."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lcp
import pyarrow.parquet as pq

EXAMPLES = Path(__file__).parent
RUNS = [
    ("`count_column` alone", "measure.py"),
    ("`plain.py`", "plain.py"),
    ("`ray/corpus.py`", "ray/corpus.py"),
    ("`spark/corpus.py`", "spark/corpus.py"),
]


def speed(script: str, documents: Path, output: Path, workers: int) -> int:
    """Return the documents per second of a run."""
    command = [sys.executable, str(EXAMPLES / script), "--input", str(documents)]
    if script != "measure.py":
        command += ["--output", str(output), "--workers", str(workers)]
    environment = {**os.environ, "RAYON_NUM_THREADS": str(workers)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    printed = re.search(r"(\d+) documents per second", done.stdout)
    if printed is None:
        raise SystemExit(f"{script} failed\n{done.stderr}")
    return int(printed[1])


def count(folder: str) -> None:
    """Count the documents, and do nothing else."""
    texts = pq.read_table(folder)["text"]
    encoding = lcp.Encoding(model="gpt-5")
    encoding.count("load the vocabulary")
    start = time.monotonic()
    rows = len(encoding.count_column(texts))
    print(f"{rows / (time.monotonic() - start):.0f} documents per second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000, 50_000])
    parser.add_argument(
        "--repeat", type=int, default=3, help="the number of runs; the fastest counts"
    )
    parser.add_argument("--input", help="only count the documents of a folder")
    arguments = parser.parse_args()
    if arguments.input is not None:
        return count(arguments.input)

    print("| documents | program | 1 worker | 2 workers |")
    print("|---|---|---|---|")
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory() as folder:
            documents = Path(folder) / "documents"
            options = ["--rows", str(rows), "--output", str(documents)]
            write = [sys.executable, EXAMPLES / "documents.py", EXAMPLES.parent, *options]
            subprocess.run(write, check=True)
            for name, script in RUNS:
                best = {1: 0, 2: 0}
                for turn in range(2 * arguments.repeat):
                    workers = turn % 2 + 1
                    output = Path(folder) / f"{Path(script).parts[0]}-{turn}"
                    best[workers] = max(best[workers], speed(script, documents, output, workers))
                print(f"| {rows:,} | {name} | {best[1]:,}/s | {best[2]:,}/s |", flush=True)


if __name__ == "__main__":
    main()
