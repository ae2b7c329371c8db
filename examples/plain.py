"""Does the same as the examples for Ray and Spark in a loop over the rows, for comparison.

Reads Parquet files with the columns `project`, `path` and `text`. Writes a pack of each project to
`packs/`, and a table with a context of each project, within the budget, to `contexts/`.
"""

import argparse
import os
import time
from collections import defaultdict
from pathlib import Path

import lcp
import pyarrow as pa
import pyarrow.parquet as pq


def run(arguments: argparse.Namespace) -> None:
    """Run the loop, and print a summary."""
    for folder in ("packs", "contexts"):
        (arguments.output / folder).mkdir(parents=True)

    start = time.monotonic()
    encoding = lcp.Encoding(model=arguments.model)
    rows = pq.read_table(arguments.input).to_pylist()
    rows.sort(key=lambda row: (row["project"], row["path"]))
    texts: set[str] = set()
    projects: dict[str, dict[str, str]] = defaultdict(dict)
    tokens: dict[str, int] = defaultdict(int)
    for row in rows:
        count = encoding.count(row["text"])
        if row["text"] not in texts:
            texts.add(row["text"])
            projects[row["project"]][row["path"]] = row["text"]
            tokens[row["project"]] += count
    contexts = []
    for project, files in projects.items():
        pack = lcp.Pack.from_files(files)
        pack.save(arguments.output / "packs" / f"{project}.lcp")
        context = pack.render(arguments.budget, mode="markdown", model=arguments.model)
        contexts.append((project, len(files), tokens[project], context))
    columns = zip(*contexts, strict=True)
    table = pa.table(list(columns), names=["project", "documents", "tokens", "context"])
    pq.write_table(table, arguments.output / "contexts" / "contexts.parquet")
    seconds = time.monotonic() - start

    print(f"{len(rows)} documents, {len(texts)} of them distinct")
    print(f"{len(contexts)} packs, {sum(tokens.values())} tokens")
    print(f"{seconds:.1f} s, {len(rows) / seconds:.0f} documents per second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--input", required=True, help="a folder of Parquet files")
    parser.add_argument("--output", type=Path, required=True, help="a folder")
    parser.add_argument("--budget", type=int, default=8_000, help="the tokens of each context")
    parser.add_argument("--model", default="gpt-5")
    parser.add_argument("--workers", type=int, default=1, help="the threads of a pack")
    arguments = parser.parse_args()

    os.environ["RAYON_NUM_THREADS"] = str(arguments.workers)
    run(arguments)


if __name__ == "__main__":
    main()
