"""Texts beside those of the command."""

import os
from pathlib import Path

import pytest

import lcp

#: `cargo xtask ci-packages` writes packs and their rendered texts to this folder.
FOLDER = os.environ.get("LCP_TEXTS")


@pytest.mark.skipif(FOLDER is None, reason="LCP_TEXTS names no folder with texts of the command")
def test_texts_are_those_of_the_command() -> None:
    compared = 0
    for path in sorted(Path(FOLDER or "").glob("*.lcp")):
        pack = lcp.Pack.open(path)
        for mode in ("xml", "markdown", "minimal"):
            expected = path.with_suffix(f".{mode}.txt").read_bytes()
            assert pack.render(8_000, mode=mode).encode() == expected, (path.name, mode)
            compared += 1
    assert compared >= 150
