"""Pictures for the shop: JPEG and GIF files of the sizes that TPC-W requires, with random content.

Sources: CCITT T.81, annexes B and F (baseline JPEG); Compuserve, GIF89a.
"""

import random
import struct

__all__ = ["detail_size", "gif", "jpeg"]

# Sizes of product pictures, with cumulative percentages (TPC-W, clause 4.6.2.17).
_DETAIL_SIZES = ((45, 5_000), (80, 10_000), (95, 50_000), (99, 100_000), (100, 250_000))

_COLUMNS = 64
_CLEAR, _END = 128, 129

# A block is: the code "10" for a difference of two bits, the two bits, and "0" for its end.
_BLOCK_BITS = 5


def detail_size(number: int, of: int) -> int:
    """Size in bytes of the picture `number` out of `count`.

    >>> [detail_size(number, 100) for number in (0, 45, 99)]
    [5000, 10000, 250000]
    """
    return next(size for most, size in _DETAIL_SIZES if 100 * number < most * of)


def gif(size_bytes: int, seed: int) -> bytes:
    """A GIF of 64 columns of random grey, of about this number of bytes.

    The decoder's table is cleared before it would need wider codes, so every code is one byte: a
    pixel.

    >>> gif(5000, seed=1)[:6], abs(len(gif(5000, seed=1)) - 5000) < 100
    (b'GIF89a', True)
    """
    rng = random.Random(seed)  # noqa: S311 - pictures are no secrets
    colours = b"".join(bytes([2 * i] * 3) for i in range(128))
    head = 13 + len(colours) + 13
    rows = max(1, (size_bytes - head) * 99 // 100 // _COLUMNS)
    codes = bytearray()
    for i in range(rows * _COLUMNS):
        if i % 100 == 0:
            codes.append(_CLEAR)
        codes.append(int(rng.random() * 128))
    codes.append(_END)
    blocks = [bytes(codes[i : i + 255]) for i in range(0, len(codes), 255)]
    body = b"".join(bytes([len(block)]) + block for block in blocks)
    screen = struct.pack("<HHBBB", _COLUMNS, rows, 0xF6, 0, 0)
    frame = b"," + struct.pack("<HHHHB", 0, 0, _COLUMNS, rows, 0) + b"\x07"
    return b"GIF89a" + screen + colours + frame + body + b"\0;"


def jpeg(size_bytes: int, seed: int) -> bytes:
    r"""A JPEG of grey squares of 8 by 8 pixels, 64 in a row, of about this number of bytes.

    >>> jpeg(5000, seed=1)[:2], abs(len(jpeg(5000, seed=1)) - 5000) < 100
    (b'\xff\xd8', True)
    """
    rng = random.Random(seed)  # noqa: S311 - pictures are no secrets
    rows = max(1, (size_bytes - 150) * 8 // _BLOCK_BITS // 64)
    bits, grey = 1, 0
    scan = bytearray()
    for _ in range(rows * 64):
        # Towards the middle, by 2 or 3 steps.
        difference = 2 + int(rng.random() * 2)
        down = grey > 0
        grey += -difference if down else difference
        value = 3 - difference if down else difference
        bits = bits << _BLOCK_BITS | 0b10000 | value << 1
        while bits.bit_length() > 8:
            spare = bits.bit_length() - 9
            scan.append(bits >> spare & 255)
            bits = 1 << spare | bits & ((1 << spare) - 1)
    spare = 9 - bits.bit_length()
    scan.append((bits << spare | (1 << spare) - 1) & 255)
    return _jpeg_head(rows) + bytes(scan).replace(b"\xff", b"\xff\0") + b"\xff\xd9"


def _jpeg_head(rows: int) -> bytes:
    def segment(mark: int, content: bytes) -> bytes:
        return b"\xff" + bytes([mark]) + struct.pack(">H", len(content) + 2) + content

    # Differences of 0, 1 and 2 bits have codes of 2 bits; "end of block" is the one other code.
    differences = b"\x00" + bytes([0, 3, *[0] * 14]) + bytes([0, 1, 2])
    others = b"\x10" + bytes([1, *[0] * 15]) + b"\x00"
    frame = struct.pack(">BHHB", 8, 8 * rows, 512, 1) + b"\x01\x11\x00"
    return (
        b"\xff\xd8"
        + segment(0xDB, b"\x00" + bytes([80] + [16] * 63))
        + segment(0xC0, frame)
        + segment(0xC4, differences)
        + segment(0xC4, others)
        + segment(0xDA, b"\x01\x01\x00\x00\x3f\x00")
    )
