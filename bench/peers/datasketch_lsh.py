"""Pairs of texts that datasketch's MinHashLSH takes for near, and the time.

    datasketch_lsh.py TEXTS PERCENT ROUNDS

TEXTS has a JSON list of strings in each line: the different lines of a text,
ready to be hashed. Prints JSON: the versions, and for each way of use its name, the
bands, the processor time of each round in seconds, and the pairs of indices, the
smaller one last.

The time is that of making the sketches, asking for what is near, and adding: not
the start of Python, reading, splitting texts into lines, or choosing the bands.

`documented` is what the documentation of datasketch shows: a sketch for each text,
updated line by line, all of them added, then all asked for. Once, it takes long.
`bulk` is all that favours it: sketches in bulk, a hash function of C instead of
SHA-1, a text asks for earlier ones and is added in one go, no look for keys that
are there already, no garbage collection. `recall` is the same with bands that
find more: their choice weighs what is not found as much as ten finds too many.
"""

import gc
import json
import sys
import time
import zlib

import datasketch
import numpy
from datasketch import MinHash, MinHashLSH

PERMUTATIONS = 128


def documented(texts, index):
    sketches = []
    for text, lines in enumerate(texts):
        sketch = MinHash(num_perm=PERMUTATIONS)
        for line in lines:
            sketch.update(line)
        index.insert(text, sketch)
        sketches.append(sketch)
    return [
        (text, other)
        for text, sketch in enumerate(sketches)
        for other in index.query(sketch)
        if other < text
    ]


def bulk(texts, index):
    pairs = []
    sketches = MinHash.generator(texts, num_perm=PERMUTATIONS, hashfunc=zlib.crc32)
    for text, sketch in enumerate(sketches):
        pairs.extend((text, earlier) for earlier in index.query(sketch))
        index.insert(text, sketch, check_duplication=False)
    return pairs


def measure(name, find, texts, rounds, **parameters):
    seconds = []
    for _ in range(rounds):
        index = MinHashLSH(num_perm=PERMUTATIONS, **parameters)
        gc.collect()
        gc.disable()
        start = time.process_time()
        pairs = find(texts, index)
        seconds.append(time.process_time() - start)
        gc.enable()
    bands = (index.b, index.r)
    return {"name": name, "bands": bands, "seconds": seconds, "pairs": pairs}


def main():
    path, percent, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    threshold = percent / 100
    with open(path, encoding="utf-8") as lines:
        texts = [[line.encode() for line in json.loads(text)] for text in lines]
    ways = [
        measure("bulk", bulk, texts, rounds, threshold=threshold),
        measure("recall", bulk, texts, rounds, threshold=threshold, weights=(0.1, 0.9)),
        measure("documented", documented, texts, 1, threshold=threshold),
    ]
    versions = {"datasketch": datasketch.__version__, "numpy": numpy.__version__}
    json.dump({"versions": versions, "ways": ways}, sys.stdout)


if __name__ == "__main__":
    main()
