"""Reports on budgets."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any


@dataclass(frozen=True)
class BlockReport:
    """The part of a block in a text.

    Attributes:
        index: The index of the block.
        type: The type, such as ``code``.
        label: The label: a path, or a title.
        priority: The priority: ``critical``, ``high``, ``normal``, ``low`` or ``background``.
        decision: The decision, such as ``full``, ``excerpt`` or ``omit``.
        reason: The reason for the decision.
        tokens: The tokens in the text.
        full_tokens: The tokens of the complete block.
    """

    index: int
    type: str
    label: str
    priority: str
    decision: str
    reason: str
    tokens: int
    full_tokens: int


@dataclass(frozen=True)
class Report:
    """A report on content that was fitted into a budget. Notebooks show it as a table.

    Attributes:
        used_tokens: The tokens of the result. Images have a fixed number each, and audio is not
            counted.
        budget: The budget, if there is one.
        exact: ``True`` if the texts are counted with the model's own tokenizer, ``False`` for
            estimates. The tokens around each message are a convention: 4 for each, 3 for the list.
        encoding: The name of the tokenizer.
        omitted_parts: The number of blocks, or parts of messages, that are not shown.
        by_decision: The number of parts by decision, such as ``full``, ``excerpt`` or
            ``placeholder``.
        warnings: The warnings.
        blocks: The blocks. Reports on messages have none.
    """

    used_tokens: int
    budget: int | None
    exact: bool
    encoding: str
    omitted_parts: int
    by_decision: dict[str, int]
    warnings: list[str]
    blocks: list[BlockReport] = field(repr=False)
    _read_json: Callable[[], str] = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, text: str, warnings: list[str]) -> Report:
        """Read a report of the library (``lcp.report.v1`` or ``lcp.export.v1``)."""
        report: dict[str, Any] = json.loads(text)
        decisions: dict[str, int] = {
            name: count["blocks"] if isinstance(count, dict) else count
            for name, count in report["by_decision"].items()
            if name != "metadata"
        }
        rolled_up: dict[str, int] = report.get("rolled_up") or {}
        names = BlockReport.__dataclass_fields__
        return cls(
            used_tokens=report["used_tokens"],
            budget=report.get("budget"),
            exact=report["exact"],
            encoding=report["encoding"],
            omitted_parts=rolled_up.get("blocks", rolled_up.get("count", 0)),
            by_decision=decisions,
            warnings=warnings,
            blocks=[
                BlockReport(**{name: block[name] for name in names})
                for block in report.get("blocks", [])
                if block["decision"] != "metadata"
            ],
            _read_json=partial(str, text),
        )

    def to_json(self) -> str:
        """Return the complete report as JSON."""
        return self._read_json()

    def _repr_html_(self) -> str:
        budget = "no budget" if self.budget is None else f"of {self.budget:,}"
        exact = "" if self.exact else ", estimated"
        head = f"{self.used_tokens:,} {budget} tokens ({html.escape(self.encoding)}{exact})"
        rows = [
            _row("td", block.label or block.type, block.decision, block.reason, str(block.tokens))
            for block in sorted(self.blocks, key=lambda block: -block.tokens)[:_ROWS_MAX]
        ]
        if rows:
            rows.insert(0, _row("th", "block", "decision", "reason", "tokens"))
            if len(self.blocks) > _ROWS_MAX:
                rows.append(_row("td", f"{len(self.blocks) - _ROWS_MAX} more blocks"))
        else:
            rows = [_row("td", name, str(count)) for name, count in self.by_decision.items()]
        warnings = "".join(f"<li>{html.escape(warning)}</li>" for warning in self.warnings)
        return f"<p><b>{head}</b></p><table>{''.join(rows)}</table>" + (
            f"<ul>{warnings}</ul>" if warnings else ""
        )


#: The maximum number of rows in a table.
_ROWS_MAX = 50


def _row(tag: str, *cells: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
