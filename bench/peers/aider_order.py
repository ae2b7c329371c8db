"""The files of a folder in the order of aider's repository map for a message.

    aider_order.py FOLDER INPUT CACHE

INPUT has a JSON object: the message as `query`, and the paths of all files as `files`.
Prints the paths as a JSON list. All of it is aider's own code: its coder finds the
identifiers and the files that the message mentions, and its map ranks definitions for
them. A file comes where its best definition does. There are no files in the chat.

CACHE is the folder in which aider stores the definitions of files that it has parsed.
"""

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

from aider.coders.base_coder import Coder
from aider.repomap import RepoMap


class Io:
    """Reads files, and drops what aider would print."""

    def read_text(self, name, silent=False):
        try:
            return Path(name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def tool_output(self, *args, **kwargs):
        pass

    tool_warning = tool_error = tool_output


def mentions(query, files):
    coder = SimpleNamespace(
        get_all_relative_files=lambda: files,
        get_addable_relative_files=lambda: files,
        get_inchat_relative_files=lambda: [],
        abs_read_only_fnames=[],
    )
    identifiers = Coder.get_ident_mentions(coder, query)
    named = Coder.get_file_mentions(coder, query)
    named |= Coder.get_ident_filename_matches(coder, identifiers)
    return named, identifiers


def main():
    folder, source, cache = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        given = json.load(file)
    RepoMap.TAGS_CACHE_DIR = os.path.abspath(cache)
    model = SimpleNamespace(token_count=len)
    ranked = RepoMap(root=folder, io=Io(), main_model=model)
    paths = [os.path.join(folder, name) for name in given["files"]]
    tags = ranked.get_ranked_tags([], paths, *mentions(given["query"], given["files"]))
    json.dump(list(dict.fromkeys(tag[0] for tag in tags)), sys.stdout)


if __name__ == "__main__":
    main()
