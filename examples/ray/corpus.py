"""Counts, deduplicates and packs a corpus of documents with Ray Data.

Reads Parquet files with the columns `project`, `path` and `text`. Writes a pack of each project to
`packs/`, and a table with a context of each project, within the budget, to `contexts/`.
"""

import argparse
import os
import sys
import time

import lcp
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import ray
from pyarrow.fs import FileSystem, FileType


def count(batch: pa.Table, encoding: lcp.Encoding) -> pa.Table:
    """Add the tokens and the hash of each text."""
    texts = batch["text"]
    batch = batch.append_column("tokens", pa.array(encoding.count_column(texts)))
    return batch.append_column("hash", pa.array(lcp.hash_column(texts)))


def first_of_each_hash(batch: pa.Table) -> pa.Table:
    """Keep the first document of each hash, in the order of projects and paths."""
    batch = batch.sort_by([(name, "ascending") for name in ("hash", "project", "path")])
    hashes = batch["hash"].combine_chunks()
    is_first = pc.not_equal(hashes[1:], hashes[:-1])
    return pa.concat_tables([batch[:1], batch[1:].filter(is_first)])


def pack(documents: pa.Table, output: str, budget: int, model: str) -> pa.Table:
    """Pack the documents of a project, and render as much of them as fits the budget."""
    project = documents["project"][0].as_py()
    packed = lcp.Pack.from_columns(documents["path"], documents["text"])
    files, folder = FileSystem.from_uri(f"{output}/packs")
    with files.open_output_stream(f"{folder}/{project}.lcp") as file:
        file.write(packed.to_bytes())
    return pa.table(
        {
            "project": [project],
            "documents": [documents.num_rows],
            "tokens": [pc.sum(documents["tokens"]).as_py()],
            "context": [packed.render(budget, mode="markdown", model=model)],
        }
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the pipeline, and print a summary."""
    output = arguments.output
    output = output.rstrip("/") if "://" in output else os.path.abspath(output)
    files, folder = FileSystem.from_uri(output)
    if files.get_file_info(f"{folder}/contexts").type != FileType.NotFound:
        sys.exit(f"cannot write {output}/contexts: it already exists\nhint: pass another --output")
    files.create_dir(f"{folder}/packs")
    # A partition of a shuffle is a task.
    partitions = 4 * arguments.workers

    start = time.monotonic()
    documents = ray.data.read_parquet(arguments.input).map_batches(
        count,
        # Each worker loads the vocabulary once, for its first task.
        fn_args=[lcp.Encoding(model=arguments.model)],
        batch_format="pyarrow",
        zero_copy_batch=True,
    )
    # Rows with the same hash meet in one block, which is one batch.
    distinct = documents.repartition(partitions, keys=["hash"]).map_batches(
        first_of_each_hash, batch_format="pyarrow", batch_size=None, zero_copy_batch=True
    )
    contexts = distinct.groupby("project", num_partitions=partitions).map_groups(
        pack,
        fn_args=[output, arguments.budget, arguments.model],
        batch_format="pyarrow",
    )
    contexts.write_parquet(f"{output}/contexts")
    seconds = time.monotonic() - start

    rows = ray.data.read_parquet(arguments.input).count()
    columns = ["documents", "tokens"]
    written = pq.read_table(f"{folder}/contexts", columns=columns, filesystem=files)
    distinct_rows, tokens = (pc.sum(column).as_py() for column in written.columns)
    print(f"{rows} documents, {distinct_rows} of them distinct")
    print(f"{written.num_rows} packs, {tokens} tokens")
    print(f"{seconds:.1f} s, {rows / seconds:.0f} documents per second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--input", required=True, help="a folder of Parquet files")
    parser.add_argument(
        "--output", required=True, help="a folder, or a URI such as s3://bucket/folder"
    )
    parser.add_argument("--budget", type=int, default=8_000, help="the tokens of each context")
    parser.add_argument("--model", default="gpt-5")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()

    # Each worker counts in one thread.
    ray.init(
        num_cpus=arguments.workers,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"RAYON_NUM_THREADS": "1"}},
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    run(arguments)


if __name__ == "__main__":
    main()
