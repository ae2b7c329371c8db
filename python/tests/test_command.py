"""The script ``lcp`` that the wheel installs."""

import shutil
import subprocess
import sysconfig
from pathlib import Path

import tiktoken_counts

import lcp

SCRIPT = shutil.which("lcp", path=sysconfig.get_path("scripts"))


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    assert SCRIPT is not None
    return subprocess.run(
        [SCRIPT, *arguments], cwd=folder, capture_output=True, text=True, encoding="utf-8"
    )


def test_script_has_the_version_of_the_package(tmp_path: Path) -> None:
    printed = run("--version", folder=tmp_path)
    assert (printed.returncode, printed.stdout) == (0, f"lcp {lcp.__version__}\n")


def test_script_counts_files(tmp_path: Path) -> None:
    text = "日本語のテキスト"
    (tmp_path / "größe.txt").write_text(text, encoding="utf-8")
    printed = run("count", "--model", "gpt-5", "größe.txt", folder=tmp_path)
    count = tiktoken_counts.COUNTS["o200k_base"][text]
    assert (printed.returncode, printed.stdout) == (0, f"{count} größe.txt\n")


def test_script_exits_with_the_codes_of_the_command(tmp_path: Path) -> None:
    missing = run("count", "missing.txt", folder=tmp_path)
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr.startswith("error: cannot read missing.txt")
    unknown = run("count", "--model", "no-such-model", "missing.txt", folder=tmp_path)
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert 'unknown model "no-such-model"' in unknown.stderr
