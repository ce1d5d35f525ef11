"""Makes text from outside safe to show on a terminal, in a picture, in a message.

Names of programs, files, threads and markers come from outside: they may hold characters that move
a terminal's cursor, or that XML forbids.
"""

_LOW_SURROGATE = 0xDC00
"""Python represents each byte of a file name that is not UTF-8 as this plus the byte."""


def sanitized(text: str, *, lines: bool = False) -> str:
    r"""The text with every character that is not printable as an escape sequence.

    Args:
        text: any text.
        lines: whether line breaks stay, for texts of several lines that homenode itself writes.

    >>> sanitized("a\x1b[31mb\nc"), sanitized("a\nb", lines=True), sanitized("é ∞ \u202e")
    ('a\\x1b[31mb\\nc', 'a\nb', 'é ∞ \\u202e')
    """
    if lines:
        return "\n".join(sanitized(line) for line in text.split("\n"))
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    code = ord(character)
    if _LOW_SURROGATE <= code <= _LOW_SURROGATE + 0xFF:
        return f"\\x{code - _LOW_SURROGATE:02x}"
    return character.encode("unicode_escape").decode()
