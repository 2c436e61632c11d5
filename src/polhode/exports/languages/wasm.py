"""WebAssembly: a module that needs no linker.

LLVM writes an object file, which is a module already but for its memory and its stack, which it imports.
They are put in here, and the functions are exported; numbers in the code are as they should be, since
there is nothing to link with.  Below the address `free` are constants, at the end of the memory is the
stack; what is between is free for bodies and states.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from polhode.exports.machine import Machine

PAGE = 65536
PAGES = 4
TYPES, IMPORTS, FUNCTIONS, MEMORY, GLOBALS, EXPORTS, CODE, DATA, COUNT = (
    1,
    2,
    3,
    5,
    6,
    7,
    10,
    11,
    12,
)
FUNCTION_KIND, MEMORY_KIND, GLOBAL_KIND = 0, 2, 3
SYMBOLS = 8  # the part of the section "linking" with the names of functions
UNDEFINED, NAMED = 0x10, 0x40


class Language(Machine):
    """A module of WebAssembly."""

    suffix = ".wasm"
    precisions = ("double",)
    instruction = False
    target = "wasm32-unknown-unknown"

    def content(self) -> bytes:
        prefix, module = self.module.prefix, self.module
        public = [f"{prefix}_{one.name}" for one in self.public_functions()]
        code = super().content()
        sizes = {"body_size": self.size(module.body), "state_size": self.size(module.state)}
        made = linked(code, public, {f"{prefix}_{key}": size for key, size in sizes.items()})
        text = name("about") + self.about().encode()
        return made + b"\0" + number(len(text)) + text

    def _tell(self, layout: Any) -> None:
        """They are no constants in memory, but globals and a section."""
        self.layout = layout


class Reader:
    """Reads numbers and names, one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def bytes(self) -> bytes:
        count = self.number()
        self.at += count
        return self.data[self.at - count : self.at]


def sections(module: bytes) -> Iterator[tuple[int, bytes]]:
    """The parts of a module, each with its kind."""
    reader = Reader(module)
    reader.at = 8
    while reader.at < len(module):
        yield reader.byte(), reader.bytes()


def number(value: int) -> bytes:
    """A count, as a module has it."""
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])


def row(items: list[bytes]) -> bytes:
    """Items with their count before them."""
    return number(len(items)) + b"".join(items)


def name(text: str) -> bytes:
    """A name with its length before it."""
    return number(len(text)) + text.encode()


def signed(value: int) -> bytes:
    """i32.const and the end of an expression."""
    made = bytearray()
    while not -64 <= value < 64:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([0x41, *made, value & 127, 0x0B])


def linked(module: bytes, public: list[str], sizes: dict[str, int]) -> bytes:
    """The module with memory and stack of its own, and with exports: functions, and numbers."""
    known = {kind: data for kind, data in sections(module) if kind}
    linking = next(
        data for kind, data in sections(module) if kind == 0 and is_named(data, "linking")
    )
    places = symbols(linking)
    kept = imports(known[IMPORTS])
    size = extent(known.get(DATA, b"\0"))
    free, end = -(-size // 16) * 16 + 16, PAGES * PAGE
    made = {
        **known,
        IMPORTS: row(kept),
        MEMORY: row([b"\0" + number(PAGES)]),
        GLOBALS: row(  # the stack first
            [
                b"\x7f\x01" + signed(end),
                *(b"\x7f\0" + signed(one) for one in (free, *sizes.values())),
            ]
        ),
        EXPORTS: row(
            [
                name("memory") + bytes([MEMORY_KIND, 0]),
                name("free") + bytes([GLOBAL_KIND, 1]),
                *(name(one) + bytes([GLOBAL_KIND]) + number(2 + i) for i, one in enumerate(sizes)),
                *(name(one) + bytes([FUNCTION_KIND]) + number(places[one]) for one in public),
            ]
        ),
    }
    # memory and globals before the exports; the number of data parts before the code
    order = [TYPES, IMPORTS, FUNCTIONS, MEMORY, GLOBALS, EXPORTS, COUNT, CODE, DATA]
    return module[:8] + b"".join(
        bytes([kind]) + number(len(made[kind])) + made[kind] for kind in order if kind in made
    )


def is_named(data: bytes, what: str) -> bool:
    return Reader(data).bytes() == what.encode()


def imports(data: bytes) -> list[bytes]:
    """The imports of functions, which remain: memory and stack are in the module."""
    reader, kept = Reader(data), []
    for _ in range(reader.number()):
        start = reader.at
        reader.bytes()
        reader.bytes()
        kind = reader.byte()
        if kind == MEMORY_KIND:
            limits = reader.byte()
            reader.number()
            if limits & 1:
                reader.number()
        elif kind == GLOBAL_KIND:
            reader.at += 2
        else:
            assert kind == FUNCTION_KIND
            reader.number()
            kept.append(data[start : reader.at])
    return kept


def extent(data: bytes) -> int:
    """Where the constants in memory end."""
    reader, end = Reader(data), 0
    for _ in range(reader.number()):
        assert reader.number() == 0 and reader.byte() == 0x41  # at a fixed address
        at = reader.number()
        reader.byte()
        end = max(end, at + len(reader.bytes()))
    return end


def symbols(data: bytes) -> dict[str, int]:
    """The numbers of the functions, by name."""
    reader = Reader(data)
    reader.bytes()
    reader.number()  # version
    found = {}
    while reader.at < len(data):
        kind, part = reader.byte(), Reader(reader.bytes())
        if kind != SYMBOLS:
            continue
        for _ in range(part.number()):
            what, flags = part.byte(), part.number()
            if what == 1:  # data
                part.bytes()
                if not flags & UNDEFINED:
                    part.number(), part.number(), part.number()
                continue
            if what == 3:  # a section
                part.number()
                continue
            place = part.number()
            if not flags & UNDEFINED or flags & NAMED:
                called = part.bytes().decode()
                if what == 0:
                    found[called] = place
    return found
