"""Encodes texts with Python's tiktoken, for the test `differential`.

The patterns and the encodings are those of the installed package. The rank
files are not downloaded: they are read from the folder given, and each must
have the SHA-256 that the package itself expects of the official file.

    tiktoken_tokens.py tokens ASSETS ENCODING...
        A batch on standard input is the number of its texts and for each text
        its length in bytes and the text in UTF-8; numbers are 32 bits, low byte
        first. The answer to a batch is, for each text and encoding, the number
        of tokens and the id of each. An empty input ends it.

    tiktoken_tokens.py fixtures ASSETS ENCODING...
        One batch; to each text belongs one more number behind it: how many
        times it is repeated. The answer is a JSON file of texts and counts.
"""

import json
import pathlib
import struct
import sys
from importlib.metadata import version

import tiktoken
import tiktoken.load

# Rank file -> SHA-256, of every file that was read.
HASHES = {}


def read_ranks(assets):
    """What takes the place of the package's download."""

    def read(location, expected_hash=None):
        name = location.rsplit("/", 1)[1]
        data = (assets / name).read_bytes()
        if expected_hash is None or not tiktoken.load.check_hash(data, expected_hash):
            raise SystemExit(f"{assets / name} is not the file that tiktoken expects")
        HASHES[name] = expected_hash
        return data

    return read


def load(assets, names):
    tiktoken.load.read_file_cached = read_ranks(pathlib.Path(assets))
    # Imported only now, so that nothing of it has loaded ranks before.
    from tiktoken_ext.openai_public import ENCODING_CONSTRUCTORS

    return [tiktoken.Encoding(**ENCODING_CONSTRUCTORS[name]()) for name in names]


def number():
    four = sys.stdin.buffer.read(4)
    return struct.unpack("<I", four)[0] if four else None


def text():
    return sys.stdin.buffer.read(number()).decode("utf-8")


def tokens(encodings):
    while (size := number()) is not None:
        # All of it is read before anything is answered: nobody waits for whom
        # waits for them.
        batch = [text() for _ in range(size)]
        for ids in [e.encode_ordinary(t) for t in batch for e in encodings]:
            sys.stdout.buffer.write(struct.pack(f"<{len(ids) + 1}I", len(ids), *ids))
        sys.stdout.buffer.flush()


def fixtures(encodings):
    rows = []
    for _ in range(number()):
        row = {"text": text()}
        times = number()
        if times > 1:
            row["times"] = times
        row["counts"] = [len(e.encode_ordinary(row["text"] * times)) for e in encodings]
        rows.append(json.dumps(row))
    head = {
        "tiktoken": version("tiktoken"),
        "ranks": HASHES,
        "encodings": [e.name for e in encodings],
    }
    # A line for each text, so that a change shows as one.
    start = json.dumps(head, indent=1)[:-2]
    print(start + ',\n "texts": [\n  ' + ",\n  ".join(rows) + "\n ]\n}")


def main():
    task, assets, *names = sys.argv[1:]
    encodings = load(assets, names)
    {"tokens": tokens, "fixtures": fixtures}[task](encodings)


main()
