"""The command ``lcp``."""

from __future__ import annotations

import sys

from ._lcp import run


def main() -> int:
    """Run the command with the arguments of this process."""
    return run(["lcp", *sys.argv[1:]])
