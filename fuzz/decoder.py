"""A second decoder of the block stream, written from rfcs/0001-block-stream.md alone.

    python3 fuzz/decoder.py FILE...

prints a line of JSON for each file:

    {"file": "a.lcp", "result": "ok", "blocks": [{"type": 1, "flags": 0, "fields": [[1, 1], ...]}]}
    {"file": "b.lcp", "result": "malformed", "code": "bad_varint"}

`result` is `ok`, `malformed`, `limit` (`too_large`), or `unread`: a reference, for there is no
store, or zstd where the package `zstandard` is not installed. `code` is that of RFC 0001 §10.3.

A block is written in one form, however its bytes stood: `fields` are pairs of an id and a
value, in the order of the ids. Of a scalar that came twice the last one is there, items of a
list and unknown fields of one id keep their order. A value is a number (varint), `"0x..."`
(bytes), a list of fields (a record that is known), or `{"nested": "0x..."}` (one that is
not). `flags` are those of the frame. `summary` is there where the frame has one; a block of
unknown type has `body` for `fields`.

It is slow, and shares no line with the decoder in Rust: where both read a corpus, they must
agree (`fuzz/README.md`).
"""

import json
import sys

try:
    import zstandard
except ImportError:
    zstandard = None

BODY_BYTES_MAX = 256 << 20
BODY_DECOMPRESSED_BYTES_MAX = 16 << 20
PAYLOAD_DECOMPRESSED_BYTES_MAX = 256 << 20
TOTAL_DECOMPRESSED_BYTES_MAX = 256 << 20
BLOCKS_MAX = 1 << 24
FIELDS_MAX = 1 << 22
DEPTH_MAX = 64
TEXT_BYTES_MAX = 1 << 20
SUMMARY_BYTES_MAX = 1 << 20
ZSTD_WINDOW_BYTES_MAX = 128 << 20

# Bytes that are given to zstd at once: it says what it has before it fails on the next.
ZSTD_STEP_BYTES = 64

HAS_SUMMARY, COMPRESSED, IS_REFERENCE = 1, 2, 4
PAYLOAD_ZSTD = 1
END = 0xFF

VARINT, BYTES, NESTED = 0, 1, 2

# Kinds of field (§7): their wire type, and what may stand there.
ENUM, V32, V64, TEXT, RAW = "E", "V32", "V64", "T", "B"
WIRE_TYPES = {ENUM: VARINT, V32: VARINT, V64: VARINT, TEXT: BYTES, RAW: BYTES}
NUMBER_MAX = {ENUM: 0xFF, V32: (1 << 32) - 1, V64: (1 << 64) - 1}


class Record:
    """What fields a record may have: id to kind, which is a record for a list of such."""

    def __init__(self, fields, optional=()):
        self.fields = fields
        self.required = [
            of for of, kind in fields.items() if of not in optional and not isinstance(kind, Record)
        ]


ENTRY = Record({1: TEXT, 2: ENUM, 3: V64})
ENTRY.fields[4] = ENTRY
HUNK = Record({1: V32, 2: V32, 3: RAW})
BLOCKS = {
    0x01: Record({1: ENUM, 2: TEXT, 3: RAW, 4: V32, 5: V32}, optional=(4, 5)),
    0x02: Record({1: ENUM, 2: RAW, 3: TEXT}, optional=(3,)),
    0x03: Record({1: TEXT, 2: ENTRY}),
    0x04: Record({1: TEXT, 2: ENUM, 3: RAW, 4: TEXT}, optional=(4,)),
    0x05: Record({1: TEXT, 2: RAW, 3: ENUM}),
    0x06: Record({1: ENUM, 2: TEXT, 3: RAW}, optional=(2,)),
    0x07: Record({1: TEXT, 2: HUNK}),
    0x08: Record({1: V64, 2: ENUM, 3: RAW}),
    0x09: Record({1: RAW, 2: RAW, 3: TEXT}),
    0x0A: Record({1: ENUM, 2: TEXT, 3: RAW}),
    0xFE: Record({1: TEXT, 2: TEXT, 3: RAW}),
}


class Refused(Exception):
    """The code of what is wrong."""


UNREAD = ("no_store", "compression_unsupported")


def too_large(found, limit):
    if found > limit:
        raise Refused("too_large")


class Slice:
    """Bytes that are all there: a body, or a nested record."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, count):
        if count > self.left():
            raise Refused("unexpected_eof")
        self.at += count
        return self.data[self.at - count : self.at]

    def varint(self):
        return read_varint(self)


def read_varint(source):
    value = 0
    for group in range(10):
        byte = source.take(1)[0]
        if group == 9 and byte > 1:
            raise Refused("bad_varint")
        value |= (byte & 0x7F) << (7 * group)
        if byte < 0x80:
            return value
    raise Refused("bad_varint")


class Unpacked:
    """What zstd makes of stored bytes, a little at a time, within a limit."""

    def __init__(self, stored, limit):
        if zstandard is None:
            raise Refused("compression_unsupported")
        self.stored, self.limit, self.fed, self.made = stored, limit, 0, 0
        self.frame, self.frames = None, 0

    def more(self):
        """The next bytes; None at the end."""
        while self.fed < len(self.stored):
            if self.frame is None:
                options = {"max_window_size": ZSTD_WINDOW_BYTES_MAX}
                self.frame = zstandard.ZstdDecompressor(**options).decompressobj()
                self.frames += 1
            step = self.stored[self.fed : self.fed + ZSTD_STEP_BYTES]
            try:
                made = self.frame.decompress(step)
            except zstandard.ZstdError:
                raise Refused("bad_compression") from None
            self.fed += len(step)
            if self.frame.eof:
                self.fed -= len(self.frame.unused_data)
                self.frame = None
            self.made += len(made)
            too_large(self.made, self.limit)
            if made:
                return made
        return None

    def is_cut(self):
        """Whether the stored bytes end in the middle of a frame of zstd."""
        return self.frame is not None


class Payload:
    """The bytes behind the header: as they stand, or unpacked while they are read."""

    def __init__(self, stored, is_packed):
        self.unpacked = Unpacked(stored, PAYLOAD_DECOMPRESSED_BYTES_MAX) if is_packed else None
        self.ready = bytearray() if is_packed else stored
        self.at = 0

    def wait(self, count):
        """Whether so many bytes are there."""
        while self.unpacked and len(self.ready) - self.at < count:
            made = self.unpacked.more()
            if made is None:
                if self.unpacked.is_cut():
                    raise Refused("unexpected_eof")
                break
            self.ready += made
        return len(self.ready) - self.at >= count

    def take(self, count):
        if not self.wait(count):
            raise Refused("unexpected_eof")
        self.at += count
        return bytes(self.ready[self.at - count : self.at])

    def varint(self):
        return read_varint(self)

    def counted(self):
        """Bytes that count towards the total."""
        return self.at if self.unpacked else 0

    def drain(self):
        """Behind END all is unpacked, and must be what it claims to be (§10.4)."""
        if self.unpacked:
            while self.unpacked.more() is not None:
                too_large(self.unpacked.made, TOTAL_DECOMPRESSED_BYTES_MAX)
            if self.unpacked.is_cut():
                raise Refused("unexpected_eof")


def decode(data):
    """The blocks of a pack."""
    if len(data) < 8:
        begins = any(magic.startswith(data[:4]) for magic in (b"LCP\0", b"BCP\0"))
        raise Refused("unexpected_eof" if begins else "bad_magic")
    if data[:4] not in (b"LCP\0", b"BCP\0"):
        raise Refused("bad_magic")
    if data[4] != 1:
        raise Refused("unsupported_version")
    if data[7] != 0:
        raise Refused("reserved_header")
    payload = Payload(data[8:], data[6] & PAYLOAD_ZSTD)
    blocks, unpacked = [], 0
    while True:
        if not payload.wait(1):
            raise Refused("missing_end")
        kind = payload.varint()
        if kind > 0xFF:
            raise Refused("out_of_range")
        flags = payload.take(1)[0]
        length = payload.varint()
        if kind == END:
            if flags or length:
                raise Refused("bad_end")
            break
        too_large(len(blocks) + 1, BLOCKS_MAX)
        too_large(length, BODY_BYTES_MAX)
        stored = payload.take(length)
        too_large(payload.counted() + unpacked, TOTAL_DECOMPRESSED_BYTES_MAX)
        body = real_body(flags, stored, TOTAL_DECOMPRESSED_BYTES_MAX - payload.counted() - unpacked)
        if flags & COMPRESSED:
            unpacked += len(body)
        blocks.append(read_block(kind, flags, body))
    payload.drain()
    return blocks


def real_body(flags, stored, left):
    """Summary and fields (§4), of which so many bytes may be unpacked yet."""
    if flags & IS_REFERENCE:
        raise Refused("bad_reference" if flags & COMPRESSED or len(stored) != 32 else "no_store")
    if not flags & COMPRESSED:
        return stored
    unpacked = Unpacked(stored, min(BODY_DECOMPRESSED_BYTES_MAX, left))
    body = bytearray()
    while (made := unpacked.more()) is not None:
        body += made
    if unpacked.is_cut() or not unpacked.frames:
        raise Refused("bad_compression")
    return bytes(body)


def read_block(kind, flags, body):
    block = {"type": kind, "flags": flags}
    body = Slice(body)
    if flags & HAS_SUMMARY:
        block["summary"] = shown(text(body, SUMMARY_BYTES_MAX))
    if kind in BLOCKS:
        block["fields"] = read_record(BLOCKS[kind], body, 0, [0])
    else:
        block["body"] = shown(body.take(body.left()))
    return block


def read_record(record, source, depth, count):
    """Fields to the end of the source; `count` is how many the block has so far."""
    scalars, others = {}, []
    while source.left():
        count[0] += 1
        too_large(count[0], FIELDS_MAX)
        of, wire_type = source.varint(), source.varint()
        if wire_type > NESTED:
            raise Refused("unknown_wire_type")
        kind = record.fields.get(of)
        if kind is None:
            others.append([of, unknown(wire_type, source)])
        elif wire_type != (NESTED if isinstance(kind, Record) else WIRE_TYPES[kind]):
            raise Refused("wrong_wire_type")
        elif wire_type == NESTED:
            too_large(depth + 1, DEPTH_MAX)
            inner = Slice(source.take(source.varint()))
            others.append([of, read_record(kind, inner, depth + 1, count)])
        else:
            scalars[of] = scalar(kind, source)
    if any(of not in scalars for of in record.required):
        raise Refused("missing_field")
    # Sorting keeps the order of those that are alike.
    return sorted([[of, value] for of, value in scalars.items()] + others, key=lambda field: field[0])


def scalar(kind, source):
    if kind == TEXT:
        return shown(text(source, TEXT_BYTES_MAX))
    if kind == RAW:
        return shown(source.take(source.varint()))
    value = source.varint()
    if value > NUMBER_MAX[kind]:
        raise Refused("out_of_range")
    return value


def unknown(wire_type, source):
    if wire_type == VARINT:
        return source.varint()
    payload = shown(source.take(source.varint()))
    return payload if wire_type == BYTES else {"nested": payload}


def text(source, limit):
    taken = source.take(source.varint())
    too_large(len(taken), limit)
    try:
        taken.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("not_utf8") from None
    return taken


def shown(data):
    return "0x" + bytes(data).hex()


def row(path):
    with open(path, "rb") as file:
        data = file.read()
    try:
        return {"file": path, "result": "ok", "blocks": decode(data)}
    except Refused as refused:
        code = str(refused)
        result = "limit" if code == "too_large" else "unread" if code in UNREAD else "malformed"
        return {"file": path, "result": result, "code": code}


def main():
    if not sys.argv[1:]:
        sys.exit("usage: decoder.py FILE...")
    for path in sys.argv[1:]:
        print(json.dumps(row(path), separators=(",", ":")))


if __name__ == "__main__":
    main()
