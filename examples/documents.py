"""Writes Parquet files of documents: parts of the text files of a folder, with repetitions.

The columns are the project (a folder), the path and the text. Every third repetition of a part is
a duplicate; the others have one more line.
"""

import argparse
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ENDINGS = {".md", ".py", ".rs", ".ts"}
#: Folders of other people's files, and of build output.
EXCLUDED = {"dist", "node_modules", "target"}
#: The least size of a part in characters.
PART = 3_000


def parts(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Return the parts of the files: project, path and text."""
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder)
        excluded = any(name.startswith(".") or name in EXCLUDED for name in path.parts)
        if excluded or file.suffix not in ENDINGS or not file.is_file():
            continue
        project = "-".join(path.parts[:-1][:2]) or "root"
        text = ""
        number = 0
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True):
            text += line
            if len(text) >= PART:
                yield project, part_name(path, number), text
                text, number = "", number + 1
        if text:
            yield project, part_name(path, number), text


def part_name(path: Path, number: int) -> str:
    return path.with_stem(f"{path.stem}.{number}").as_posix()


def documents(folder: Path) -> Iterator[dict[str, str]]:
    """Return the parts of the files again and again, each time as other projects."""
    originals = list(parts(folder))
    if not originals:
        raise SystemExit(f"{folder}: no text files")
    for repetition in count():
        for project, path, text in originals:
            line = f"\nRepetition {repetition}.\n" if repetition % 3 else ""
            yield {"project": f"{project}-{repetition}", "path": path, "text": text + line}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of the texts")
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--files", type=int, default=8, help="the number of Parquet files")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()

    arguments.output.mkdir(parents=True)
    rows = list(islice(documents(arguments.folder), arguments.rows))
    for file in range(arguments.files):
        table = pa.Table.from_pylist(rows[file :: arguments.files])
        pq.write_table(table, arguments.output / f"documents-{file:03}.parquet")


if __name__ == "__main__":
    main()
