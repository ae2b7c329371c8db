"""Counts, deduplicates and packs a corpus of documents with PySpark.

Reads Parquet files with the columns `project`, `path` and `text`. Writes a pack of each project to
`packs/`, and a table with a context of each project, within the budget, to `contexts/`.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator

import lcp
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

# Import the module, not FileSystem: workers must import pyarrow.fs, which registers S3.
from pyarrow import fs
from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

COUNTED = "project string, path string, text string, tokens long, hash string"
CONTEXTS = "project string, documents long, tokens long, context string"
CONTEXT_COUNTS = "documents long, tokens long"


def counter(model: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function that adds the tokens and the hash of each text."""

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        encoding = lcp.Encoding(model=model)
        for batch in batches:
            texts = batch["text"]
            batch = batch.append_column("tokens", pa.array(encoding.count_column(texts)))
            yield batch.append_column("hash", pa.array(lcp.hash_column(texts)))

    return count


def packer(output: str, budget: int, model: str) -> Callable[[pa.Table], pa.Table]:
    """Return a function that packs the documents of a project, and renders what fits the budget."""

    def pack(documents: pa.Table) -> pa.Table:
        project = documents["project"][0].as_py()
        pack = lcp.Pack.from_columns(documents["path"], documents["text"])
        files, folder = fs.FileSystem.from_uri(f"{output}/packs")
        with files.open_output_stream(f"{folder}/{project}.lcp") as file:
            file.write(pack.to_bytes())
        context = pack.render(budget, mode="markdown", model=model)
        return pa.table(
            {
                "project": [project],
                "documents": [documents.num_rows],
                "tokens": [pc.sum(documents["tokens"]).as_py()],
                "context": [context],
            }
        )

    return pack


def writer(output: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function that writes the contexts of a partition, and yields their counts."""

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        files, folder = fs.FileSystem.from_uri(f"{output}/contexts")
        contexts = list(batches)
        if contexts:
            files.create_dir(folder)
            # A retried task overwrites its file.
            file = f"{folder}/part-{TaskContext.get().partitionId():05}.parquet"
            pq.write_table(pa.Table.from_batches(contexts), file, filesystem=files)
        for batch in contexts:
            yield batch.select(["documents", "tokens"])

    return write


def run(spark: SparkSession, arguments: argparse.Namespace) -> None:
    """Run the pipeline, and print a summary."""
    output = arguments.output
    output = output.rstrip("/") if "://" in output else os.path.abspath(output)
    files, folder = fs.FileSystem.from_uri(output)
    if files.get_file_info(f"{folder}/contexts").type != fs.FileType.NotFound:
        sys.exit(f"cannot write {output}/contexts: it already exists\nhint: pass another --output")
    files.create_dir(f"{folder}/packs")

    start = time.monotonic()
    documents = spark.read.parquet(arguments.input).select("project", "path", "text")
    documents = documents.mapInArrow(counter(arguments.model), COUNTED)
    # The first document of each hash, in the order of projects and paths.
    row = F.struct("project", "path", "text", "tokens")
    distinct = documents.groupBy("hash").agg(F.min(row).alias("row")).select("row.*")
    pack = packer(output, arguments.budget, arguments.model)
    contexts = distinct.groupBy("project").applyInArrow(pack, CONTEXTS)
    # The Parquet writer of Spark cannot write to s3:// without Hadoop's library for it.
    written = contexts.mapInArrow(writer(output), CONTEXT_COUNTS).toArrow()
    seconds = time.monotonic() - start

    rows = spark.read.parquet(arguments.input).count()
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

    # The workers are processes of this Python. Each counts in one thread.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    spark = (
        SparkSession.builder.master(f"local[{arguments.workers}]")
        .config("spark.ui.enabled", "false")
        .config("spark.executorEnv.RAYON_NUM_THREADS", "1")
        .config("spark.sql.shuffle.partitions", 2 * arguments.workers)
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    run(spark, arguments)
    spark.stop()


if __name__ == "__main__":
    main()
