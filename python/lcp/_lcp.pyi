from typing import Any, Protocol, TypeAlias, final, type_check_only

__all__ = [
    "BlockReader",
    "Column",
    "Encoding",
    "Fitted",
    "Pack",
    "Sessions",
    "__version__",
    "encode_json",
    "fit_messages",
    "hash_column",
    "panic",
    "run",
]
__version__: str

@type_check_only
class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None, /) -> tuple[Any, Any]: ...

@type_check_only
class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None, /) -> Any: ...

# A column of an Arrow library. It exists only for type checkers.
_ArrowColumn: TypeAlias = _ArrowArray | _ArrowStream

@final
class Column:
    """A column of values, which Arrow libraries read without a copy.

    ``pyarrow.array(column)``, ``polars.Series(column)`` and others take it.
    """

    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> Any: ...
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...

@final
class Encoding:
    """A tokenizer: the encoding of a model, or a tokenizer file."""

    def __new__(cls, name: str | None = None, *, model: str | None = None) -> Encoding: ...
    def __getnewargs_ex__(self) -> tuple[tuple[str | None], dict[str, str | None]]: ...
    @property
    def name(self) -> str:
        """The name."""

    @property
    def is_exact(self) -> bool:
        """``True`` if the counts are those of the model, ``False`` for estimates."""

    def count(self, text: str) -> int:
        """Count the tokens of a text."""

    def count_batch(self, texts: list[str]) -> list[int]:
        """Count the tokens of several texts, on all processors."""

    def count_column(self, column: _ArrowColumn) -> Column:
        """Count the tokens of each text of an Arrow column, on all processors.

        Columns of all Arrow libraries are read without a copy. The counts are an Arrow column, too.
        A row without text has no count.
        """

    def encode(self, text: str) -> list[int]:
        """Return the ids of the tokens of a text. Names of special tokens are ordinary text."""

    def decode_bytes(self, ids: list[int]) -> bytes:
        """Return the bytes of tokens. A character can have several tokens."""

    def decode(self, ids: list[int]) -> str:
        """Return the text of tokens. Incomplete characters become U+FFFD."""

@final
class Fitted:
    """Messages within a budget."""

    @property
    def messages(self) -> list[int | tuple[int | None, str]]:
        """The messages: indices of the input, and new ones with the index of their original."""

    @property
    def note(self) -> str | None: ...
    @property
    def is_unchanged(self) -> bool: ...
    @property
    def is_exact(self) -> bool: ...
    @property
    def is_appended(self) -> bool: ...
    @property
    def used_tokens(self) -> int: ...
    @property
    def encoding(self) -> str: ...
    @property
    def omitted_blocks(self) -> int: ...
    @property
    def by_decision(self) -> dict[str, int]: ...
    def report_json(self) -> str:
        """Return the complete report as JSON."""

    def append(self, messages: bytes, budget: int, pinned: list[int]) -> Fitted | None:
        """Append messages. Return ``None`` if all messages must be fitted again."""

@final
class Pack:
    """A pack: typed blocks of source files, messages, tool results and documents."""

    @staticmethod
    def from_bytes(data: bytes) -> Pack: ...
    @staticmethod
    def open(path: str) -> Pack: ...
    @staticmethod
    def from_manifest(path: str, manifest: str) -> Pack: ...
    @staticmethod
    def from_directory(path: str, arguments: dict[str, Any]) -> Pack: ...
    @staticmethod
    def from_files(files: list[tuple[str, str | bytes]], arguments: dict[str, Any]) -> Pack: ...
    @staticmethod
    def from_columns(
        paths: _ArrowColumn, texts: _ArrowColumn, arguments: dict[str, Any]
    ) -> Pack: ...
    @staticmethod
    def from_transcript(
        transcript: str | bytes, format: str | None, secrets: str | None
    ) -> Pack: ...
    @property
    def warnings(self) -> list[str]: ...
    def render(self, arguments: dict[str, Any]) -> tuple[str, list[str]]: ...
    def report(self, arguments: dict[str, Any]) -> tuple[str, list[str]]: ...
    def to_manifest(self) -> str: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: str) -> None: ...

@final
class BlockReader:
    """A reader of the blocks of a pack."""

    @staticmethod
    def open(path: str, model: str | None, encoding: str | None) -> BlockReader: ...
    @staticmethod
    def from_pack(pack: Pack, model: str | None, encoding: str | None) -> BlockReader: ...
    def __len__(self) -> int: ...
    def read(self, index: int) -> tuple[int, str, str, str | None, int | None, str | bytes]: ...

@final
class Sessions:
    """The sessions of a store."""

    def __new__(
        cls, store: str | None, model: str | None, encoding: str | None, wait: int | None
    ) -> Sessions: ...
    def record(self, id: str, arguments: dict[str, Any]) -> str: ...
    def status(self, id: str) -> str: ...
    def handoff(self, id: str, when: str, target: int | None) -> tuple[str, Pack | None]: ...
    def resume(
        self,
        handoff: str,
        id: str | None,
        window: int | None,
        output_reserve: int | None,
        again: bool,
    ) -> tuple[str, str]: ...
    def compact(self, id: str, if_due: bool) -> tuple[str, Pack]: ...
    def usage(self, id: str) -> str: ...
    def list(self) -> str: ...

def encode_json(value: Any) -> bytes | None: ...
def fit_messages(
    messages: bytes,
    budget: int,
    pinned: list[int],
    options: tuple[str | None, str | None, str | None, float, int],
) -> tuple[Fitted, list[str]]: ...
def hash_column(column: _ArrowColumn) -> Column:
    """Return the hash of each text of an Arrow column, for deduplication.

    It is the BLAKE3 hash of the UTF-8 text as hexadecimal digits. A row without text has no hash.
    """

def panic(is_short: bool) -> None: ...
def run(arguments: list[str]) -> int: ...
