"""Columns of Arrow libraries."""

import ctypes
import pickle
import struct
from collections.abc import Callable
from typing import Any

import pytest

import lcp

pa: Any = pytest.importorskip("pyarrow")

TEXTS = ["a budget is a promise", None, "", "Füße, 速度, 🚪", "stuck = True\n" * 50]
#: The types that hold strings.
TYPES = [pa.string(), pa.large_string(), pa.string_view()]


def expected(encoding: lcp.Encoding, texts: list[str | None]) -> list[int | None]:
    return [None if text is None else encoding.count(text) for text in texts]


@pytest.mark.parametrize("type", TYPES, ids=str)
@pytest.mark.parametrize("encoding", [lcp.Encoding("o200k_base"), lcp.Encoding(model="claude-3")])
def test_counts_are_those_of_the_texts(type: Any, encoding: lcp.Encoding) -> None:
    array = pa.array(TEXTS, type)
    counts = pa.array(encoding.count_column(array))
    assert counts.type == pa.int64()
    assert counts.to_pylist() == expected(encoding, TEXTS)
    counts.validate(full=True)


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_slices_and_chunks_are_one_column(type: Any) -> None:
    encoding = lcp.Encoding("o200k_base")
    array = pa.array(TEXTS, type)
    for start in range(len(TEXTS)):
        counts = pa.array(encoding.count_column(array[start:4]))
        assert counts.to_pylist() == expected(encoding, TEXTS[start:4])
    chunked = pa.chunked_array([array[3:], array[:0], array[1:2], array[:3]], type)
    counts = encoding.count_column(chunked)
    assert len(counts) == 6
    assert pa.array(counts).to_pylist() == expected(encoding, chunked.to_pylist())


def test_columns_can_have_no_rows_or_no_texts() -> None:
    encoding = lcp.Encoding("o200k_base")
    for empty in (pa.array([], pa.string()), pa.chunked_array([], pa.string())):
        assert pa.array(encoding.count_column(empty)).to_pylist() == []
    for nulls in (pa.nulls(3), pa.nulls(3, pa.string())):
        assert pa.array(encoding.count_column(nulls)).to_pylist() == [None] * 3
        assert pa.array(lcp.hash_column(nulls)).to_pylist() == [None] * 3


def test_equal_texts_have_equal_hashes() -> None:
    hashes = pa.array(lcp.hash_column(pa.array(["abc", None, "", "abc", "abd"])))
    assert hashes.type == pa.large_string()
    listed = hashes.to_pylist()
    assert listed[0] == listed[3]
    assert len({*listed}) == 4
    # The published hash of nothing.
    assert listed[2] == "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"


def test_results_are_read_without_a_copy() -> None:
    encoding = lcp.Encoding("o200k_base")
    counts = encoding.count_column(pa.array(["a"] * 1_000))
    first, second = pa.array(counts), pa.array(counts)
    assert first.buffers()[1].address == second.buffers()[1].address
    del counts, second
    assert first.to_pylist() == [1] * 1_000
    assert repr(encoding.count_column(first.cast("string"))) == "<lcp.Column: 1000 rows of Int64>"


class OtherLibrary:
    """A column of a library that this package does not know."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self.array.__arrow_c_array__()


def strings(offsets: list[int], data: bytes) -> Any:
    """Return an array of these buffers, of which ``pyarrow`` checks only the ends."""
    count = len(offsets) - 1
    buffers = [None, pa.py_buffer(struct.pack(f"={count + 1}i", *offsets)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), count, buffers)


def file_with(offsets: list[int]) -> Any:
    """Return a column of an Arrow file with these offsets, which ``pyarrow`` does not check."""
    sink = pa.BufferOutputStream()
    batch = pa.record_batch({"a": ["abcde"]})
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    written = sink.getvalue().to_pybytes()
    # The body comes after all descriptions.
    before, _, after = written.rpartition(struct.pack("=2i", 0, 5))
    changed = before + struct.pack("=2i", *offsets) + after
    return pa.ipc.open_stream(changed).read_all()["a"]


@pytest.mark.parametrize("function", [lcp.Encoding("o200k_base").count_column, lcp.hash_column])
def test_malformed_columns_are_errors(function: Callable[[Any], lcp.Column]) -> None:
    assert pa.array(function(OtherLibrary(strings([0, 1, 2], b"ab")))).null_count == 0
    with pytest.raises(lcp.MalformedError, match=r"column\[0\]: invalid utf-8"):
        function(strings([0, 2, 3], b"\xff\xfea"))
    assert len(function(strings([0, 2, 3], b"\xff\xfea")[1:])) == 1
    # A character must not be divided between rows.
    with pytest.raises(lcp.MalformedError, match=r"column\[0\]: "):
        function(strings([0, 1, 2], "ü".encode()))
    with pytest.raises(lcp.MalformedError, match="column: "):
        function(strings([0, 4, 1, 5], b"abcde"))
    with pytest.raises(lcp.MalformedError, match="column: "):
        function(OtherLibrary(strings([0, 3, 2], b"abcde")))
    for offsets in ([0, 1_000_000_000], [0, -1], [-5, 1], [6, 7], [-2, -1]):
        with pytest.raises(lcp.MalformedError, match="column: "):
            function(file_with(offsets))


class Consumed:
    """A column whose capsules can be read once."""

    def __init__(self, array: Any) -> None:
        self.capsules = array.__arrow_c_array__()

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self.capsules


class Broken:
    """A column without the capsules that it promises."""

    def __init__(self, result: object) -> None:
        self.result = result

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def test_other_arguments_are_errors() -> None:
    encoding = lcp.Encoding("o200k_base")
    table = pa.table({"a": ["b"]})
    for other in (["a"], "a", None, pa.array([1]), pa.array([b"a"]), table, table[:0]):
        with pytest.raises(TypeError, match="column: expected an Arrow column of strings, got "):
            encoding.count_column(other)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"got Dictionary"):
        encoding.count_column(pa.array(["a"]).dictionary_encode())
    consumed = Consumed(pa.array(["a"]))
    assert len(encoding.count_column(consumed)) == 1
    with pytest.raises(lcp.UsageError, match="column: the array was already read"):
        encoding.count_column(consumed)
    schema, array = pa.array(["a"]).__arrow_c_array__()
    for result in (None, (1, 2), (array, schema), (schema, schema), (schema,)):
        with pytest.raises((TypeError, ValueError)):
            encoding.count_column(Broken(result))
    with pytest.raises(OSError, match="no memory"):
        encoding.count_column(Broken(OSError("no memory")))


fail = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda *_: 5)


class FailingStream:
    """A stream of texts whose next array cannot be read."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        capsule = pa.chunked_array([["a"]]).__arrow_c_stream__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        functions = (ctypes.c_void_p * 2).from_address(pointer(capsule, b"arrow_array_stream"))
        functions[1] = ctypes.cast(fail, ctypes.c_void_p).value
        return capsule


def test_failing_streams_are_errors() -> None:
    with pytest.raises(lcp.UsageError, match="column: the stream cannot be read: error 5"):
        lcp.hash_column(FailingStream())
    stream = pa.chunked_array([["a"]]).__arrow_c_stream__()

    class Consumed:
        def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
            return stream

    assert len(lcp.hash_column(Consumed())) == 1
    with pytest.raises(lcp.UsageError, match="column: the stream was already read"):
        lcp.hash_column(Consumed())


def test_other_libraries() -> None:
    polars: Any = pytest.importorskip("polars")
    encoding = lcp.Encoding("o200k_base")
    series = polars.Series(TEXTS)
    assert polars.Series(encoding.count_column(series)).to_list() == expected(encoding, TEXTS)
    hashes = polars.Series(lcp.hash_column(series[3:]))
    assert hashes.to_list() == pa.array(lcp.hash_column(pa.array(TEXTS[3:]))).to_pylist()


def test_encodings_are_sent_to_workers() -> None:
    for encoding in (
        lcp.Encoding(),
        lcp.Encoding("cl100k_base"),
        lcp.Encoding(model="claude-sonnet-4-5"),
    ):
        sent = pickle.loads(pickle.dumps(encoding))
        assert (sent.name, sent.is_exact) == (encoding.name, encoding.is_exact)
        assert sent.count("some text") == encoding.count("some text")


def test_columns_become_packs() -> None:
    files = {"door.py": "stuck = True\n", "notes.md": "# Notes\n\nIt sticks.\n"}
    pack = lcp.Pack.from_columns(pa.array([*files]), pa.chunked_array([[*files.values()]]))
    assert pack.to_bytes() == lcp.Pack.from_files(files).to_bytes()
    with pytest.raises(lcp.UsageError, match="texts: expected 2 rows, got 1"):
        lcp.Pack.from_columns(pa.array([*files]), pa.array(["a"]))
    with pytest.raises(lcp.UsageError, match=r"texts\[1\]: expected a string, got null"):
        lcp.Pack.from_columns(pa.array([*files]), pa.array(["a", None]))
    with pytest.raises(lcp.UsageError, match="paths: expected at least one row"):
        lcp.Pack.from_columns(pa.array([], pa.string()), pa.array([], pa.string()))
    with pytest.raises(TypeError, match="paths: expected an Arrow column of strings, got Int64"):
        lcp.Pack.from_columns(pa.array([1]), pa.array(["a"]))
