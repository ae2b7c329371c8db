"""Packs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ._arguments import (
    in_thread,
    optional_text,
    optional_tokens,
    path,
    text,
    texts,
    wrong_type,
)
from ._errors import UsageError
from ._lcp import BlockReader
from ._lcp import Pack as _Pack
from ._report import Report

if TYPE_CHECKING:
    from ._lcp import _ArrowColumn


@dataclass(frozen=True)
class Block:
    """A block of a pack.

    Attributes:
        index: The index in the pack.
        type: The type, such as ``code`` or ``conversation``.
        label: The label: a path, a title or the name of a tool. It can be empty.
        priority: The priority: ``critical``, ``high``, ``normal``, ``low`` or ``background``;
            ``None`` for metadata.
        tokens: The tokens of the content; ``None`` for metadata.
        content: The content: text, or the bytes of an image or of other data.
    """

    index: int
    type: str
    label: str
    priority: str | None
    tokens: int | None
    content: str | bytes


class Pack:
    """A pack: typed blocks of source files, messages, tool results and documents.

    Methods that read, write or count have an async version, whose name begins with ``a``.

    >>> code = {"type": "code", "path": "door.py", "content": "stuck = True", "priority": "high"}
    >>> pack = Pack.from_blocks([code])
    >>> print(pack.render(100, mode="markdown").rstrip())
    ### code door.py (high)
    ```
    stuck = True
    ```
    """

    __slots__ = ("_pack",)

    def __init__(self, pack: _Pack) -> None:
        self._pack = pack

    def __repr__(self) -> str:
        return f"<lcp.Pack: {len(self.to_bytes())} bytes>"

    @staticmethod
    def from_bytes(data: bytes) -> Pack:
        """Read a pack from bytes."""
        if not isinstance(data, bytes):
            wrong_type("data", "bytes", data)
        return Pack(_Pack.from_bytes(data))

    @staticmethod
    def open(path: str | PathLike[str]) -> Pack:
        """Read a pack from a file. ``read_blocks`` reads packs that are too large for memory."""
        return Pack(_Pack.open(_path("path", path)))

    @staticmethod
    def from_blocks(blocks: Iterable[Mapping[str, Any]]) -> Pack:
        """Pack blocks, given as the entries of a manifest.

        Each has a ``type``, the fields of this type and ``content`` (or ``content_base64``, or
        ``content_file``, relative to the current folder), and can have a ``priority``, ``summary``
        and ``tags``. ``to_manifest`` shows those of a pack.
        """
        given: object = blocks
        if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
            wrong_type("blocks", "a list of dicts", blocks)
        entries: list[str] = []
        for at, entry in enumerate(blocks):
            if not isinstance(entry, Mapping):
                wrong_type(f"blocks[{at}]", "a dict", entry)
            try:
                entries.append(json.dumps(dict(entry), ensure_ascii=False))
            except (TypeError, ValueError, RecursionError) as error:
                raise UsageError(f"blocks[{at}]: {error}") from error
            text(f"blocks[{at}]", entries[at])
        manifest = f'{{"blocks":[{",".join(entries)}]}}'
        return Pack(_Pack.from_manifest("blocks", manifest))

    @staticmethod
    def from_manifest(path: str | PathLike[str]) -> Pack:
        """Pack the blocks of a manifest, a JSON file. File names in it are relative to it."""
        from ._errors import FileError

        name = _path("path", path)
        try:
            manifest = Path(name).read_text(encoding="utf-8")
        except OSError as error:
            message = f"cannot read {name}: {error.strerror}"
            raise FileError(message, errno=error.errno, filename=name) from error
        except UnicodeDecodeError as error:
            raise UsageError(f"path: {name} is not UTF-8 ({error.reason})") from error
        return Pack(_Pack.from_manifest(name, manifest))

    @staticmethod
    def from_directory(
        path: str | PathLike[str],
        *,
        query: str | None = None,
        mentions: Iterable[str] = (),
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        priorities: Mapping[str, str] | None = None,
        dedup: str | None = None,
        secrets: str | None = None,
    ) -> Pack:
        """Pack the files of a folder, without those that ignore files exclude.

        With a ``query``, the files that it needs are the last to be shortened; ``mentions`` are
        files or names that it is about. Globs ``include`` and ``exclude`` files, and give them
        ``priorities``: ``critical``, ``high``, ``normal``, ``low`` or ``background``. ``dedup``
        removes duplicates: ``exact``, ``overlap`` or ``near``. ``secrets`` are replaced by markers
        (``redact``, the default), or their files are left out (``exclude``), listed (``warn``) or
        not searched for (``off``). ``warnings`` lists what was replaced or left out.
        """
        folder = _path("path", path)
        if not Path(folder).is_dir():
            raise UsageError(f"path: no folder {folder}")
        arguments = _file_arguments(query, mentions, include, exclude, priorities, dedup, secrets)
        return Pack(_Pack.from_directory(folder, arguments))

    @staticmethod
    def from_files(
        files: Mapping[str, str | bytes],
        *,
        query: str | None = None,
        mentions: Iterable[str] = (),
        priorities: Mapping[str, str] | None = None,
        dedup: str | None = None,
        secrets: str | None = None,
    ) -> Pack:
        """Pack files that are in memory, given by their paths in the pack.

        The ending of a path decides the type. Contents are text, or bytes in any character set. The
        other arguments are those of ``from_directory``.

        >>> pack = Pack.from_files({"door.py": "stuck = True", "notes.md": "It sticks."})
        >>> [block.label for block in pack.blocks()]
        ['.', 'door.py', 'notes.md']
        """
        if not isinstance(files, Mapping):
            wrong_type("files", "a dict", files)
        contents: list[tuple[str, str | bytes]] = []
        for name, content in files.items():
            key = f"files[{text('files', name)!r}]"
            if not isinstance(content, bytes):
                content = text(key, content)
            contents.append((name, content))
        if not contents:
            raise UsageError("files: expected at least one file, got none")
        arguments = _file_arguments(query, mentions, (), (), priorities, dedup, secrets)
        return Pack(_Pack.from_files(contents, arguments))

    @staticmethod
    def from_columns(
        paths: _ArrowColumn,
        texts: _ArrowColumn,
        *,
        query: str | None = None,
        mentions: Iterable[str] = (),
        priorities: Mapping[str, str] | None = None,
        dedup: str | None = None,
        secrets: str | None = None,
    ) -> Pack:
        """Pack texts of an Arrow column, given with a column of their paths in the pack.

        Columns of all libraries are read without a Python object for each row. The other arguments
        are those of ``from_files``.
        """
        arguments = _file_arguments(query, mentions, (), (), priorities, dedup, secrets)
        return Pack(_Pack.from_columns(paths, texts, arguments))

    @staticmethod
    def from_transcript(
        transcript: str | bytes, *, format: str | None = None, secrets: str | None = None
    ) -> Pack:
        """Pack a transcript: messages of a chat API, or the session of an agent.

        The format is detected unless you pass one: ``claude-code``, ``codex``, ``gemini-cli``,
        ``opencode``, ``mcp``, ``markdown`` or a format of ``fit_messages``. Within a budget, the
        newest messages are kept first. ``secrets`` are those of ``from_directory``; ``exclude`` is
        treated like ``warn``.

        >>> pack = Pack.from_transcript('[{"role": "user", "content": "Why does the door stick?"}]')
        >>> [(block.type, block.content) for block in pack.blocks() if block.tokens]
        [('conversation', 'Why does the door stick?')]
        """
        if not isinstance(transcript, bytes):
            transcript = text("transcript", transcript)
        format, secrets = optional_text("format", format), optional_text("secrets", secrets)
        return Pack(_Pack.from_transcript(transcript, format, secrets))

    @property
    def warnings(self) -> list[str]:
        """The warnings of packing, such as about replaced secrets and files that were left out."""
        return self._pack.warnings

    def blocks(self, *, model: str | None = None, encoding: str | None = None) -> list[Block]:
        """Return the blocks, with the tokens of their contents."""
        names = optional_text("model", model), optional_text("encoding", encoding)
        return list(_blocks(BlockReader.from_pack(self._pack, *names)))

    def render(
        self,
        budget: int | None = None,
        *,
        mode: str = "xml",
        model: str | None = None,
        encoding: str | None = None,
        shares: str | None = None,
        dedup: str | None = None,
    ) -> str:
        """Render the blocks as text within a budget of tokens.

        ``mode`` is ``xml``, ``markdown`` or ``minimal``. The default budget is the window of the
        ``model``. Without both, all blocks are shown in full. ``shares`` divides the budget among
        categories by a preset: ``conversation``, ``agent``, ``code-focused``,
        ``preference-focused`` or ``session-focused``. ``dedup`` replaces duplicates: ``exact``,
        ``overlap`` or ``near``.

        Raise ``OverBudgetError`` if critical blocks exceed the budget.
        """
        arguments = _render_arguments(budget, mode, model, encoding, shares, dedup)
        return self._pack.render(arguments)[0]

    def report(
        self,
        budget: int | None = None,
        *,
        mode: str = "xml",
        model: str | None = None,
        encoding: str | None = None,
        shares: str | None = None,
        dedup: str | None = None,
    ) -> Report:
        """Return how ``render`` would spend the budget, for each block."""
        arguments = _render_arguments(budget, mode, model, encoding, shares, dedup)
        return Report.from_json(*self._pack.report(arguments))

    def to_manifest(self) -> list[dict[str, Any]]:
        """Return the blocks as entries of a manifest, for ``from_blocks``."""
        blocks: list[dict[str, Any]] = json.loads(self._pack.to_manifest())["blocks"]
        return blocks

    def to_bytes(self) -> bytes:
        """Return the bytes of the pack."""
        return self._pack.to_bytes()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the pack to a file, completely or not at all."""
        self._pack.save(_path("path", path))

    aopen = staticmethod(in_thread(open))
    afrom_manifest = staticmethod(in_thread(from_manifest))
    afrom_directory = staticmethod(in_thread(from_directory))
    afrom_files = staticmethod(in_thread(from_files))
    afrom_columns = staticmethod(in_thread(from_columns))
    afrom_transcript = staticmethod(in_thread(from_transcript))
    ablocks = in_thread(blocks)
    arender = in_thread(render)
    areport = in_thread(report)
    asave = in_thread(save)


def read_blocks(
    path: str | PathLike[str], *, model: str | None = None, encoding: str | None = None
) -> Iterator[Block]:
    """Read the blocks of a pack one after the other.

    The file is checked first. Then a few megabytes are in memory at a time, if the pack has an
    index, as those of this package have.
    """
    names = optional_text("model", model), optional_text("encoding", encoding)
    return _blocks(BlockReader.open(_path("path", path), *names))


async def aread_blocks(
    path: str | PathLike[str], *, model: str | None = None, encoding: str | None = None
) -> AsyncIterator[Block]:
    """Do the same as ``read_blocks`` without blocking the event loop."""
    import asyncio

    names = optional_text("model", model), optional_text("encoding", encoding)
    reader = await asyncio.to_thread(BlockReader.open, _path("path", path), *names)
    for index in range(len(reader)):
        yield Block(*await asyncio.to_thread(reader.read, index))


_path = path


def _blocks(reader: BlockReader) -> Iterator[Block]:
    for index in range(len(reader)):
        yield Block(*reader.read(index))


def _file_arguments(
    query: object,
    mentions: object,
    include: object,
    exclude: object,
    priorities: object,
    dedup: object,
    secrets: object,
) -> dict[str, Any]:
    if priorities is not None and not isinstance(priorities, Mapping):
        wrong_type("priorities", "a dict", priorities)
    by_glob = cast("Mapping[object, object]", priorities or {})
    return {
        "query": optional_text("query", query),
        "mentions": texts("mentions", mentions),
        "include": texts("include", include),
        "exclude": texts("exclude", exclude),
        "priorities": [
            (text("priorities", glob), text("priorities", priority))
            for glob, priority in by_glob.items()
        ],
        "dedup": optional_text("dedup", dedup),
        "secrets": optional_text("secrets", secrets),
    }


def _render_arguments(
    budget: object, mode: object, model: object, encoding: object, shares: object, dedup: object
) -> dict[str, Any]:
    return {
        "budget": optional_tokens("budget", budget),
        "mode": text("mode", mode),
        "model": optional_text("model", model),
        "encoding": optional_text("encoding", encoding),
        "shares": optional_text("shares", shares),
        "dedup": optional_text("dedup", dedup),
    }
