"""Messages that headroom compresses, as an agent would before each request.

    headroom_compress.py

Prints its version. Then, for each line that it reads, a JSON list of messages, prints the
compressed ones. Nothing is downloaded: the variable HF_HUB_OFFLINE is set.
"""

import json
import os
import sys
from importlib.metadata import version

os.environ["HF_HUB_OFFLINE"] = "1"
output = os.dup(1)
# Whatever it logs is no result.
os.dup2(2, 1)

from headroom import compress  # noqa: E402

with os.fdopen(output, "w") as results:
    print(f"headroom {version('headroom-ai')}", file=results, flush=True)
    for line in sys.stdin:
        compressed = compress(json.loads(line), model="claude-sonnet-4-5-20250929")
        print(json.dumps(compressed.messages), file=results, flush=True)
