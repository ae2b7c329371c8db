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


for path in sys.argv[1:]:
    pack = Lcp.from_file(path)
    if pack.header.is_payload_compressed:
        print(json.dumps({"compressed": len(pack.payload)}))
    else:
        blocks = [block(seen) for seen in pack.blocks]
        print(json.dumps({"blocks": blocks, "rest": len(pack.rest)}))
