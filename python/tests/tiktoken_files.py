"""tiktoken without a network: its files are those of the crate tiktoken-rs, a test dependency.

tiktoken checks their hashes. ``cargo fetch`` in the root of the repository downloads the crate.
"""

import functools
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import tiktoken

#: The address of the files, whose hash is their name in the cache of tiktoken.
ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/"


@functools.cache
def load(name: str) -> tiktoken.Encoding:
    """Load an encoding."""
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    folders = sorted(cargo.glob("registry/src/*/tiktoken-rs-*/assets"))
    assert folders, f"no crate tiktoken-rs in {cargo}: run cargo fetch"
    cache = Path(tempfile.mkdtemp())
    file = f"{name}.tiktoken"
    shutil.copy(folders[-1] / file, cache / hashlib.sha1((ADDRESS + file).encode()).hexdigest())
    os.environ["TIKTOKEN_CACHE_DIR"] = str(cache)
    return tiktoken.get_encoding(name)


def count(texts: list[str], name: str = "o200k_base") -> int:
    """Count the tokens of texts, without special tokens."""
    return sum(map(len, load(name).encode_ordinary_batch(texts)))
