"""Blocks, manifests and reports of packs."""

import json
from pathlib import Path

import pytest

import lcp

BLOCKS = [
    {"type": "document", "title": "Notes", "content": "The door sticks.", "priority": "high"},
    {"type": "code", "lang": "python", "path": "door.py", "content": "def turn():\n    pass\n"},
    {"type": "conversation", "role": "user", "content": "Why does it stick?"},
]


def test_blocks_have_properties_and_contents() -> None:
    blocks = lcp.Pack.from_blocks(BLOCKS).blocks()
    shown = [block for block in blocks if block.priority is not None]
    assert [(block.type, block.label, block.priority) for block in shown] == [
        ("document", "Notes", "high"),
        ("code", "door.py", "normal"),
        ("conversation", "user", "normal"),
    ]
    for block, entry in zip(shown, BLOCKS, strict=True):
        assert block.content == entry["content"]
        assert block.tokens == lcp.count(entry["content"])


def test_manifest_of_a_pack_makes_the_same_pack(tmp_path: Path) -> None:
    pack = lcp.Pack.from_blocks(BLOCKS)
    manifest = pack.to_manifest()
    assert lcp.Pack.from_blocks(manifest).to_bytes() == pack.to_bytes()
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"blocks": [{**BLOCKS[1], "content_file": "door.py"}]}))
    with pytest.raises(lcp.MalformedError, match="content"):
        lcp.Pack.from_manifest(path)
    entry = {key: value for key, value in BLOCKS[1].items() if key != "content"}
    path.write_text(json.dumps({"blocks": [{**entry, "content_file": "door.py"}]}))
    with pytest.raises(lcp.FileError, match=r"door\.py"):
        lcp.Pack.from_manifest(path)
    (tmp_path / "door.py").write_text(BLOCKS[1]["content"])
    assert lcp.Pack.from_manifest(path).blocks()[0].content == BLOCKS[1]["content"]


def test_binary_contents_are_bytes() -> None:
    image = {
        "type": "image",
        "media_type": "png",
        "alt_text": "a door",
        "data_base64": "iVBORw0KGgo=",
    }
    block = lcp.Pack.from_blocks([image]).blocks()[0]
    assert block.content == b"\x89PNG\r\n\x1a\n"


def test_blocks_of_a_file_are_read_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "a.lcp"
    pack = lcp.Pack.from_blocks(
        [{"type": "code", "path": f"{at}.py", "content": f"a = {at}\n"} for at in range(300)]
    )
    pack.save(path)
    reader = lcp.read_blocks(path)
    assert next(reader).content == "a = 0\n"
    assert [block.index for block in reader] == list(range(1, 300))
    assert list(lcp.read_blocks(path, model="gpt-4")) == pack.blocks(model="gpt-4")
    path.write_bytes(pack.to_bytes()[:500])
    with pytest.raises(lcp.MalformedError):
        lcp.read_blocks(path)


def test_priorities_decide_what_a_budget_shows(tmp_path: Path) -> None:
    for name in ("door", "sail"):
        (tmp_path / f"{name}.py").write_text(f"def {name}():\n    return 1\n\n\n" * 100)
    priorities = {"*.py": "background", "sail.py": "critical"}
    pack = lcp.Pack.from_directory(tmp_path, priorities=priorities, exclude=["*.md"])
    report = pack.report(1_500)
    rows = {row.label: row for row in report.blocks}
    assert rows["sail.py"].priority == "critical"
    assert rows["sail.py"].decision == "full"
    assert rows["door.py"].decision != "full"
    assert "sail.py" in pack.render(1_500)
    with pytest.raises(lcp.OverBudgetError, match="over the budget"):
        pack.render(100)
    only = lcp.Pack.from_directory(tmp_path, include=["door.py"])
    assert "sail" not in only.render()


def test_duplicates_are_removed() -> None:
    code = "def door():\n    return 1\n" * 50
    pack = lcp.Pack.from_blocks(
        [{"type": "code", "path": f"{name}.py", "content": code} for name in "ab"]
    )
    assert lcp.count(pack.render(dedup="exact")) < lcp.count(pack.render()) * 0.7


def test_shares_divide_a_budget() -> None:
    pack = lcp.Pack.from_blocks(
        [
            {"type": "tool_result", "tool_name": "run", "content": "a result\n" * 400},
            {"type": "code", "path": "a.py", "content": "a = 1\n" * 400},
        ]
    )
    shares = json.loads(pack.report(500, shares="agent").to_json())["shares"]
    assert {"tool_results", "open_files"} <= {share["name"] for share in shares}


def test_report_is_a_table_in_notebooks() -> None:
    pack = lcp.Pack.from_blocks(
        [{"type": "document", "title": "<b>&", "content": "The door sticks. " * 99}]
    )
    report = pack.report(60, mode="markdown")
    assert report.used_tokens <= 60
    assert report.encoding == "o200k_base"
    assert sum(report.by_decision.values()) == len(report.blocks) == 1
    html = report._repr_html_()
    assert "&lt;b&gt;&amp;" in html
    assert "<b>&" not in html
    assert f"{report.used_tokens} of 60 tokens" in html
    assert json.loads(report.to_json())["schema"] == "lcp.report.v1"


def test_budget_of_a_model_is_its_window() -> None:
    pack = lcp.Pack.from_blocks(BLOCKS)
    assert pack.report(model="gpt-4").budget is not None
    assert pack.report().budget is None
