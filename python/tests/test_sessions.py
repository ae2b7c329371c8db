"""Sessions."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lcp

PROGRAMS = next(iter(Path("/usr/lib/postgresql").glob("*/bin")), None)


def run_as_user(program: str, *arguments: str | Path) -> None:
    """Run a program of PostgreSQL, which refuses to run as root."""
    assert PROGRAMS is not None
    prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    command = [*prefix, str(PROGRAMS / program), *map(str, arguments)]
    # The server inherits the standard streams.
    null = subprocess.DEVNULL
    subprocess.run(command, check=True, stdout=null, stderr=null, timeout=120)


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """Return the address of a temporary server."""
    if given := os.environ.get("LCP_TEST_POSTGRES"):
        yield given
        return
    if PROGRAMS is None:
        assert os.environ.get("LCP_REQUIRE_POSTGRES") != "1"
        pytest.skip("PostgreSQL is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = Path(tempfile.mkdtemp())
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    data = folder / "data"
    run_as_user("initdb", "-D", data, "-U", "lcp", "-A", "trust", "--no-sync")
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    run_as_user("pg_ctl", "-D", data, "-l", folder / "log", "-o", options, "-w", "start")
    try:
        yield f"postgres://lcp@127.0.0.1:{port}/postgres"
    finally:
        run_as_user("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "sessions.sqlite")
    address: str = request.getfixturevalue("postgres")
    return address


def conversation(turns: int) -> list[dict[str, Any]]:
    return [
        {"role": ("user", "assistant")[at % 2], "content": f"Turn {at} about the door. " * 30}
        for at in range(2 * turns)
    ]


def name(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)


def test_sessions_are_recorded_handed_over_and_resumed(
    store: str, request: pytest.FixtureRequest
) -> None:
    session = lcp.Session(name(request), store=store, model="gpt-4o", window=4_000)
    first = session.record(conversation(2))
    assert (first.is_new, first.recorded, first.messages, first.window) == (True, 4, 4, 4_000)
    # The same conversation with more turns: only those are new.
    status = session.record(conversation(10), input_tokens=3_900, output_tokens=50)
    assert (status.is_new, status.recorded, status.messages) == (False, 16, 20)
    assert status.used_tokens >= 3_900
    assert status.decision == "hand_off"
    assert json.loads(status.to_json())["schema"] == "lcp.track.v1"
    assert session.status().decision == "hand_off"

    handoff = session.handoff(target=800)
    assert handoff is not None
    assert handoff.is_new
    assert handoff.tokens_after <= 800
    assert any(block.content for block in handoff.pack.blocks())
    assert session.status().handoff == handoff.id

    resumed = lcp.Session.resume(handoff.id, id=f"{session.id}-2", store=store, model="gpt-4o")
    assert resumed.previous == session.id
    assert "door" in resumed.text
    assert resumed.session.status().window == 4_000
    with pytest.raises(lcp.SessionError) as error:
        lcp.Session.resume(handoff.id, store=store)
    assert error.value.code == "already_resumed"
    again = lcp.Session.resume(handoff.id, store=store, again=True)
    assert again.text == resumed.text
    assert {listed["id"] for listed in lcp.Session.list(store)} >= {session.id, f"{session.id}-2"}


def test_compaction_keeps_the_newest_turn(store: str, request: pytest.FixtureRequest) -> None:
    session = lcp.Session(name(request), store=store, window=4_000)
    session.record(conversation(20))
    compaction = session.compact()
    assert compaction.is_done
    assert compaction.used_tokens < 4_000
    assert "Turn 39" in compaction.pack.render()
    assert not session.compact().is_done
    assert session.usage()["window"] == 4_000


def test_sessions_that_do_not_exist_create_nothing(tmp_path: Path) -> None:
    store = tmp_path / "sessions.sqlite"
    session = lcp.Session("missing", store=store)
    assert session.status().messages == 0
    assert lcp.Session.list(store) == []
    with pytest.raises(lcp.FileError, match="store not found"):
        session.handoff()
    assert not store.exists()


def test_other_messages_than_recorded_ones_are_an_error(tmp_path: Path) -> None:
    session = lcp.Session("edited", store=tmp_path / "sessions.sqlite", window=4_000)
    session.record(conversation(2))
    with pytest.raises(lcp.SessionError) as error:
        session.record([{"role": "user", "content": "Something else"}, *conversation(2)])
    assert error.value.code == "differs"
    assert error.value.hint is None
    status = session.record([{"role": "user", "content": "One more"}], append=True)
    assert (status.recorded, status.messages) == (1, 5)


def test_secrets_are_reported_or_replaced(tmp_path: Path) -> None:
    key = "".join(["AKIA", "Q3EGRIO5LWVNVJ2B"])
    messages = [{"role": "user", "content": f"My key is {key}."}]
    session = lcp.Session("secret", store=tmp_path / "sessions.sqlite", window=4_000)
    status = session.record(messages, secrets="redact")
    assert any("replaced 1 secret" in warning for warning in status.warnings)
    other = lcp.Session("listed", store=tmp_path / "sessions.sqlite", window=4_000)
    assert any("found 1 secret" in warning for warning in other.record(messages).warnings)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"store": "mysql://host/name"}, "must be a path or a PostgreSQL address"),
        ({"window": 0}, "window: expected a number of tokens from 1"),
        ({"window": 100, "output_reserve": 200}, r"output reserve \(200 tokens\)"),
        ({"model": "no-such-model"}, "unknown model"),
        ({"id": "x" * 5_000}, "an ID exceeds"),
    ],
)
def test_bad_options_are_errors(tmp_path: Path, arguments: dict[str, Any], expected: str) -> None:
    options: dict[str, Any] = {"id": "a", "store": tmp_path / "sessions.sqlite", **arguments}
    with pytest.raises(lcp.LcpError, match=expected):
        lcp.Session(**options).record(conversation(1))


def test_bad_usage_is_an_error(tmp_path: Path) -> None:
    session = lcp.Session("a", store=tmp_path / "sessions.sqlite", window=4_000)
    with pytest.raises(lcp.UsageError, match="cached_input_tokens: expected at most input_tokens"):
        session.record(input_tokens=5, cached_input_tokens=6)
    with pytest.raises(lcp.UsageError, match="input_tokens: expected a number of tokens, got None"):
        session.record(output_tokens=5)
    with pytest.raises(lcp.UsageError, match=r'when: .*always.*got "never"'):
        session.handoff(when="never")
