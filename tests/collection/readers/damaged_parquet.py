"""Damaged Parquet files by a seed: in the footer, in the headers of pages, and in pages that are packed again.

Footer and headers are structs in Thrift's compact protocol. Here a struct is a list of ``[id, type, value]``, a list is
``[type of its items, items]``.
"""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

CODECS = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]
#: Numbers of the codecs in the footer, and what pyarrow calls them.
_NUMBERED = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
_NUMBERS = [0, 1, -1, 7, 127, 128, 65536, 10**7, 2**31 - 1, -(2**31), 2**32, 10**12, 2**62, 2**63 - 1, -(2**63)]
_BINARY, _LIST, _STRUCT = 8, 9, 12
_INTEGERS = (4, 5, 6)
# Fields of the footer, of a group of rows, of a column's piece, and of a page's header, by their ids.
ROWS, GROUPS = 3, 4
GROUP_COLUMNS, GROUP_ROWS = 1, 3
METADATA = 3
CODEC, VALUES, PACKED_SIZE, DATA_AT, DICTIONARY_AT = 4, 5, 7, 9, 11
UNPACKED, PACKED, CHECKSUM, SECOND_VERSION = 2, 3, 4, 8


def genuine(rng: random.Random, codec: str) -> bytes:
    """A small run, as polars or as pyarrow writes it, with any encoding."""
    n = rng.choice((1, 8, 40, 300))
    scores = rng.choice(([rng.random() for _ in range(n)], list(range(n)), [i % 3 == 0 for i in range(n)]))
    docs = rng.choice(([f"doc{i}{'x' * rng.randrange(9)}" for i in range(n)], list(range(n)), ["d"] * n))
    columns: dict[str, Any] = {"query_id": [f"q{i * 5 // n}" for i in range(n)], "doc_id": docs, "score": scores}
    file = io.BytesIO()
    if rng.random() < 0.5:
        packing: Any = "uncompressed" if codec == "none" else codec
        pl.DataFrame(columns).write_parquet(file, compression=packing, row_group_size=rng.choice((None, 10)))
        return file.getvalue()
    encodings = {
        str: ("PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"),
        int: ("PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"),
        float: ("PLAIN", "BYTE_STREAM_SPLIT"),
        bool: ("PLAIN", "RLE"),
    }
    plain = {name: rng.choice(encodings[type(column[0])]) for name, column in columns.items()}
    options = rng.choice(({}, {"use_dictionary": False, "column_encoding": plain}))
    version = rng.choice(("1.0", "2.0"))
    pq.write_table(pa.table(columns), file, compression=codec, data_page_version=version, **options)
    return file.getvalue()


def damaged(seed: int) -> bytes:
    """A file of which something is wrong, by a seed; one codec after another."""
    rng = random.Random(seed)
    data = genuine(rng, CODECS[seed % len(CODECS)])
    body, footer = split(data)
    how = rng.randrange(5)
    if how == 0:
        return in_bytes(rng, data)
    if how == 1:
        in_struct(rng, footer)
        return joined(body, footer)
    if how == 2:
        return with_rows(data, rng.choice((10**6, 10**9, 10**12, 2**62)), values=rng.random() < 0.7)
    at, start, header, column = rng.choice(list(pages(body, footer)))
    content = body[start : start + field(header, PACKED)]
    after = start + len(content)
    if how == 3:
        in_struct(rng, header)
    else:
        content = _in_page(rng, content, header, _NUMBERED.get(field(column, CODEC)))
    return joined(_put(body, footer, at, after, written(header) + content), footer)


def with_rows(data: bytes, rows: int, *, values: bool = True) -> bytes:
    """A file that says it has so many rows, and that its columns have as many ``values``."""
    body, footer = split(data)
    set_field(footer, ROWS, rows)
    for group in field(footer, GROUPS)[1]:
        set_field(group, GROUP_ROWS, rows)
    for column in _columns(footer) if values else ():
        set_field(column, VALUES, rows)
    return joined(body, footer)


def _in_page(rng: random.Random, content: bytes, header: Any, codec: str | None) -> bytes:
    """Damage to what is packed, so that it unpacks without a fault; now and then to the packed bytes."""
    if codec is None or field(header, SECOND_VERSION) is not None or rng.random() < 0.2:
        content = in_bytes(rng, content)
        set_field(header, UNPACKED, len(content) if codec is None else field(header, UNPACKED))
    else:
        plain = pa.decompress(content, decompressed_size=field(header, UNPACKED), codec=codec, asbytes=True)
        plain = in_bytes(rng, plain)
        set_field(header, UNPACKED, len(plain))
        content = pa.compress(plain, codec=codec, asbytes=True)
    set_field(header, PACKED, len(content))
    header[:] = [entry for entry in header if entry[0] != CHECKSUM]
    return content


def in_bytes(rng: random.Random, data: bytes) -> bytes:
    """Other bytes in one place or in a few, more often at the beginning, where counts and lengths are."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = min(rng.randrange(len(changed) + 1) for _ in range(2))
        new = rng.choice((b"\xff", b"\x00", b"\xff\xff\xff\x7f", b"\xff" * 8 + b"\x7f", rng.randbytes(1), b""))
        changed[at : at + rng.choice((0, 1, len(new)))] = new
    return bytes(changed)


def in_struct(rng: random.Random, struct: Any) -> None:
    """Another number, text or list in place of one, or none."""
    holder, k = rng.choice(list(_places(struct)))
    _, kind, value = holder[k]
    if rng.random() < 0.1:
        del holder[k]
    elif kind in _INTEGERS:
        holder[k][2] = rng.choice((*_NUMBERS, value + 1, value - 1, value * 2))
    elif kind == _BINARY:
        holder[k][2] = rng.choice((b"", rng.randbytes(5), value + b"\xff", value * 100))
    elif kind == _LIST:
        value[1][:] = rng.choice(([], value[1][1:], value[1] * 2, value[1] * 50))
    elif kind == _STRUCT:
        holder[k][2] = []


def _places(struct: Any) -> Iterator[tuple[Any, int]]:
    for k, (_, kind, value) in enumerate(struct):
        yield struct, k
        if kind == _STRUCT:
            yield from _places(value)
        elif kind == _LIST and value[0] == _STRUCT:
            for item in value[1]:
                yield from _places(item)


# -- the parts of a file ---------------------------------------------------------------------------------


def split(data: bytes) -> tuple[bytes, Any]:
    """What stands before the footer, and the footer."""
    at = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return data[:at], _Reader(data, at).struct()


def joined(body: bytes, footer: Any) -> bytes:
    end = written(footer)
    return body + end + len(end).to_bytes(4, "little") + b"PAR1"


def pages(body: bytes, footer: Any) -> Iterator[tuple[int, int, Any, Any]]:
    """Where the header of each page begins and where it ends, the header, and the column that the page is of."""
    for column in _columns(footer):
        at = _begin(column)
        end = at + field(column, PACKED_SIZE)
        while at < end:
            reader = _Reader(body, at)
            header = reader.struct()
            yield at, reader.at, header, column
            at = reader.at + field(header, PACKED)


def _put(body: bytes, footer: Any, at: int, after: int, new: bytes) -> bytes:
    """Put other bytes in place of some; columns behind them begin elsewhere then."""
    longer = len(new) - (after - at)
    for column in _columns(footer):
        begin = _begin(column)
        if begin <= at < begin + field(column, PACKED_SIZE):
            set_field(column, PACKED_SIZE, field(column, PACKED_SIZE) + longer)
        for name in (DATA_AT, DICTIONARY_AT):
            if (field(column, name) or 0) > at:
                set_field(column, name, field(column, name) + longer)
    return body[:at] + new + body[after:]


def _begin(column: Any) -> int:
    return min(at for at in (field(column, DATA_AT), field(column, DICTIONARY_AT)) if at)


def _columns(footer: Any) -> list[Any]:
    return [field(c, METADATA) for group in field(footer, GROUPS)[1] for c in field(group, GROUP_COLUMNS)[1]]


def field(struct: Any, name: int) -> Any:
    return next((value for i, _, value in struct if i == name), None)


def set_field(struct: Any, name: int, value: int) -> None:
    for entry in struct:
        if entry[0] == name:
            entry[2] = value


# -- Thrift ------------------------------------------------------------------------------------------------


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def take(self, n: int) -> bytes:
        self.at += n
        return self.data[self.at - n : self.at]

    def number(self) -> int:
        found = shift = 0
        while True:
            byte = self.take(1)[0]
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found

    def signed(self) -> int:
        n = self.number()
        return (n >> 1) ^ -(n & 1)

    def struct(self) -> Any:
        found: list[Any] = []
        name = 0
        while head := self.take(1)[0]:
            name = name + (head >> 4) if head >> 4 else self.signed()
            found.append([name, head & 15, self.value(head & 15)])
        return found

    def value(self, kind: int) -> Any:
        if kind in (1, 2):
            return None
        if kind in _INTEGERS:
            return self.signed()
        if kind == _BINARY:
            return self.take(self.number())
        if kind == _STRUCT:
            return self.struct()
        if kind == _LIST:
            head = self.take(1)[0]
            size = head >> 4 if head >> 4 < 15 else self.number()
            return [head & 15, [self.take(1) if head & 15 in (1, 2) else self.value(head & 15) for _ in range(size)]]
        return self.take({3: 1, 7: 8}[kind])


def written(struct: Any) -> bytes:
    out, last = b"", 0
    for name, kind, value in struct:
        step = name - last
        out += bytes([step << 4 | kind]) if 0 < step < 16 else bytes([kind]) + _signed(name)
        out += _written(kind, value)
        last = name
    return out + b"\0"


def _written(kind: int, value: Any) -> bytes:
    if kind in (1, 2):
        return value or b""
    if kind in _INTEGERS:
        return _signed(value)
    if kind == _BINARY:
        return _number(len(value)) + value
    if kind == _STRUCT:
        return written(value)
    if kind == _LIST:
        size = len(value[1])
        head = bytes([size << 4 | value[0]]) if size < 15 else bytes([0xF0 | value[0]]) + _number(size)
        return head + b"".join(_written(value[0], item) for item in value[1])
    return value


def _signed(n: int) -> bytes:
    return _number(n << 1 if n >= 0 else -(n << 1) - 1)


def _number(n: int) -> bytes:
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])
