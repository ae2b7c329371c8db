from os import PathLike
from typing import final

__all__ = ["Encoding", "Pack", "__version__", "fit_messages", "run"]
__version__: str

@final
class Encoding:
    """A tokenizer: the encoding of a model, or a tokenizer file."""

    def __new__(cls, name: str | None = None, *, model: str | None = None) -> Encoding: ...
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

    def encode(self, text: str) -> list[int]:
        """Return the ids of the tokens of a text. Names of special tokens are ordinary text."""

    def decode_bytes(self, ids: list[int]) -> bytes:
        """Return the bytes of tokens. A character can have several tokens."""

    def decode(self, ids: list[int]) -> str:
        """Return the text of tokens. Incomplete characters become U+FFFD."""

@final
class Pack:
    """A pack: typed blocks of source files, messages, tool results and documents."""

    @staticmethod
    def from_bytes(data: bytes) -> Pack:
        """Read a pack from bytes."""

    @staticmethod
    def open(path: str | PathLike[str]) -> Pack:
        """Read a pack from a file."""

    @staticmethod
    def from_directory(
        path: str | PathLike[str], *, query: str | None = None, mentions: list[str] = ...
    ) -> Pack:
        """Pack the files of a folder. With a query, those that it needs come first."""

    @property
    def warnings(self) -> list[str]:
        """The warnings of packing, such as about replaced secrets and files that were left out."""

    def render(
        self,
        budget: int | None = None,
        *,
        mode: str = "xml",
        model: str | None = None,
        encoding: str | None = None,
    ) -> str:
        """Render the blocks as text within a budget, or in full without one."""

    def to_bytes(self) -> bytes:
        """Return the bytes of the pack."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write the pack to a file, completely or not at all."""

def fit_messages(
    messages: str,
    budget: int,
    model: str | None,
    encoding: str | None,
    format: str | None,
) -> tuple[str, str | None, bool, str, list[str]]: ...
def run(arguments: list[str]) -> int: ...
