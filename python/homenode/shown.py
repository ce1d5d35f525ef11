"""Text from elsewhere, as it may be shown: on a terminal, in a picture, in a message.

Programs, files, threads and markers have the names that somebody gave them: these may hold
characters that move a terminal's cursor, or that no XML document may hold.
"""

from __future__ import annotations

_LOW_SURROGATE = 0xDC00
"""Bytes of a file's name that are no text come to Python as this and the byte."""


def shown(text: str, *, lines: bool = False) -> str:
    r"""The text with every character that is not printable as an escape sequence.

    Args:
        text: any text.
        lines: whether line breaks stay, in a text of several lines of our own.

    >>> shown("a\x1b[31mb\nc"), shown("a\nb", lines=True), shown("é ∞ \u202e")
    ('a\\x1b[31mb\\nc', 'a\nb', 'é ∞ \\u202e')
    """
    if lines:
        return "\n".join(shown(line) for line in text.split("\n"))
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    code = ord(character)
    if _LOW_SURROGATE <= code <= _LOW_SURROGATE + 0xFF:
        return f"\\x{code - _LOW_SURROGATE:02x}"
    return character.encode("unicode_escape").decode()
