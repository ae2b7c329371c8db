"""Checkpoints put by LangGraph's savers, and how long each takes.

    langgraph_put.py BYTES sqlite FILE SYNCHRONOUS
    langgraph_put.py BYTES postgres URL

Prints what it is. Then, for each number that it reads, puts so many checkpoints, each
with a payload of BYTES that no other has and the one before as its parent, and prints
a JSON list of seconds by the clock on the wall.

SYNCHRONOUS is `default` or what SQLite's pragma takes. The payload is bytes, which
either saver writes as they are; nothing but `put` is timed, garbage is not collected.
"""

import gc
import json
import random
import sqlite3
import string
import sys
import time
from importlib.metadata import version

from langgraph.checkpoint.base import empty_checkpoint


def sqlite_saver(path, synchronous):
    from langgraph.checkpoint.sqlite import SqliteSaver

    connection = sqlite3.connect(path, check_same_thread=False)
    saver = SqliteSaver(connection)
    saver.setup()
    if synchronous != "default":
        connection.execute(f"PRAGMA synchronous = {synchronous}")
    (level,) = connection.execute("PRAGMA synchronous").fetchone()
    level = ["OFF", "NORMAL", "FULL", "EXTRA"][level]
    default = ", its default" if synchronous == "default" else ""
    about = version("langgraph-checkpoint-sqlite")
    return saver, f"SqliteSaver {about}, SQLite {sqlite3.sqlite_version}, {level}{default}"


def postgres_saver(url):
    from langgraph.checkpoint.postgres import PostgresSaver
    from psycopg import Connection
    from psycopg.rows import dict_row

    # As its `from_conn_string` does.
    connection = Connection.connect(
        url, autocommit=True, prepare_threshold=0, row_factory=dict_row
    )
    saver = PostgresSaver(connection)
    saver.setup()
    about = version("langgraph-checkpoint-postgres")
    return saver, f"PostgresSaver {about}, psycopg {version('psycopg')}"


def put(saver, bytes_, number, config, last):
    letters = random.Random(number).choices(string.ascii_lowercase + "     ", k=bytes_)
    next_version = saver.get_next_version(last, None)
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"pack": "".join(letters).encode()}
    checkpoint["channel_versions"] = {"pack": next_version}
    metadata = {"source": "loop", "step": number, "parents": {}}
    start = time.perf_counter()
    config = saver.put(config, checkpoint, metadata, {"pack": next_version})
    return time.perf_counter() - start, config, next_version


def main():
    bytes_, kind = int(sys.argv[1]), sys.argv[2]
    make = {"sqlite": sqlite_saver, "postgres": postgres_saver}[kind]
    saver, about = make(*sys.argv[3:])
    print(about, flush=True)
    config = {"configurable": {"thread_id": "a", "checkpoint_ns": ""}}
    number, last = 0, None
    for line in sys.stdin:
        gc.collect()
        gc.disable()
        seconds = []
        for _ in range(int(line)):
            spent, config, last = put(saver, bytes_, number, config, last)
            seconds.append(spent)
            number += 1
        gc.enable()
        print(json.dumps(seconds), flush=True)


if __name__ == "__main__":
    main()
