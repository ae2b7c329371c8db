"""Async versions."""

import asyncio
from pathlib import Path

import pytest

import lcp


async def count_ticks(done: asyncio.Event) -> int:
    """Count how often the event loop runs until an event."""
    ticks = 0
    while not done.is_set():
        await asyncio.sleep(0.001)
        ticks += 1
    return ticks


def test_the_event_loop_runs_while_a_folder_is_packed_and_rendered(tmp_path: Path) -> None:
    for at in range(60):
        (tmp_path / f"{at}.py").write_text(f"def f{at}(value):\n    return value + {at}\n" * 800)

    async def main() -> int:
        done = asyncio.Event()
        ticks = asyncio.create_task(count_ticks(done))
        pack = await lcp.Pack.afrom_directory(tmp_path, query="where is f1 defined?")
        text = await pack.arender(2_000)
        assert lcp.count(text) <= 2_000
        assert text == pack.render(2_000)
        report = await pack.areport(2_000)
        assert report.used_tokens <= 2_000
        done.set()
        return await ticks

    assert asyncio.run(main()) > 5


def test_packs_are_written_and_read(tmp_path: Path) -> None:
    async def main() -> None:
        pack = lcp.Pack.from_blocks([{"type": "code", "path": "a.py", "content": "a = 1\n"}])
        path = tmp_path / "a.lcp"
        await pack.asave(path)
        read = await lcp.Pack.aopen(path)
        assert await read.ablocks() == pack.blocks()
        assert [block async for block in lcp.aread_blocks(path)] == pack.blocks()
        with pytest.raises(lcp.FileError):
            await lcp.Pack.aopen(tmp_path / "missing.lcp")

    asyncio.run(main())


def test_sessions_run_at_the_same_time(tmp_path: Path) -> None:
    store = tmp_path / "sessions.sqlite"

    async def record(at: int) -> lcp.SessionStatus:
        session = lcp.Session(f"s{at}", store=store, window=4_000)
        status = await session.arecord([{"role": "user", "content": f"Question {at}"}])
        assert (await session.astatus()).messages == 1
        assert (await session.ahandoff()) is None
        return status

    async def main() -> None:
        statuses = await asyncio.gather(*map(record, range(12)))
        assert all(status.is_new for status in statuses)
        assert len(await lcp.Session.alist(store)) == 12

    asyncio.run(main())


def test_async_versions_have_names_and_docs() -> None:
    assert lcp.Session.arecord.__name__ == "arecord"
    assert lcp.Session.arecord.__qualname__ == "Session.arecord"
    assert "without blocking" in (lcp.Pack.aopen.__doc__ or "")
