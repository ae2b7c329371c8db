#!/usr/bin/env python3
"""Queues of jobs.

They wait here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

LIMIT: int = 100
TABLE = {
    "a": 1,
    "b": 2,
}
__all__ = ["Job", "run"]

print("starting")


@dataclass(frozen=True)
class Job:
    """
    A job to do.

    With a name.
    """

    name: str
    tries: int = 3

    @property
    def label(self) -> str:
        """What it is called."""
        # A comment.
        return f"{self.name}!"

    def _hidden(self):
        """Not for others."""
        return None

    class Error(Exception):
        """It failed."""


async def run(
    jobs: list[Job],
    *,
    limit: int = LIMIT,
) -> dict[str, int]:
    """Runs them all."""

    def nested():
        return 1

    return {job.name: nested() for job in jobs}


def one_line(x): return x


if __name__ == "__main__":
    run([])
