"""What the compiled description sees in packs: a line of JSON for each.

python read.py PACK...
"""

import json
import os
import sys

sys.path.insert(0, os.getcwd())
from lcp import Lcp  # noqa: E402


def texts(fields):
    """The fields of bytes that are UTF-8."""
    values = [field.value.value for field in fields if field.wire_type.value == 1]
    return [value.decode("utf-8", "replace") for value in values]


def block(seen):
    plain = seen.form == Lcp.Form.plain
    return {
        "type": seen.type_id.value,
        "bytes": seen.len_body.value,
        "summary": seen.body.summary.value if plain and seen.has_summary else None,
        "texts": texts(seen.body.fields) if plain else None,
    }


def costs(columns):
    """What blocks cost, by encoding: tokens of contents, and of placeholders by mode."""
    for column in columns:
        if column.name != Lcp.ColumnName.costs:
            continue
        found = column.entries.fields
        of = {field.id.value: field.entries for field in found if field.wire_type.value}
        modes = [field.entries.fields for field in found if field.id.value == 5]
        modes = [{field.id.value: field.entries for field in mode} for mode in modes]
        yield {
            "encoding": of[1].value,
            "contents": [tokens.value for tokens in of[3].numbers],
            "lines": {mode[1].value: [line.value for line in mode[3].numbers] for mode in modes},
        }


def index(seen):
    """What the index and its footer say."""
    columns = {column.name: column.entries for column in seen.frame.body.columns}
    names = Lcp.ColumnName
    return {
        "types": columns[names.types].codes,
        "lengths": [length.value for length in columns[names.lengths].numbers],
        "label_text": columns[names.label_text].value if names.label_text in columns else "",
        "end_offset": seen.footer.end_offset,
        "index_offset": seen.footer.index_offset,
        "blocks": seen.footer.blocks,
        "costs": list(costs(seen.frame.body.columns)),
    }


for path in sys.argv[1:]:
    pack = Lcp.from_file(path)
    if pack.header.is_payload_compressed:
        print(json.dumps({"compressed": len(pack.payload)}))
    else:
        blocks = [block(seen) for seen in pack.blocks]
        behind = index(pack.index) if getattr(pack, "index", None) else None
        print(json.dumps({"blocks": blocks, "index": behind, "rest": len(pack.rest)}))
