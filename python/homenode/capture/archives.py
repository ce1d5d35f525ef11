"""Static libraries: where the linker finds one, and the objects in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

__all__ = ["is_archive", "library", "named", "unpack"]

_MAGIC, _THIN = b"!<arch>\n", b"!<thin>\n"
_HEADER = 60


def is_archive(path: Path) -> bool:
    """Whether the file is a static library."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) in (_MAGIC, _THIN)


def library(word: str, folders: Sequence[str]) -> Path | None:
    """The static library of ``-lNAME``, if it is in one of these folders.

    As in the linker, a shared library of that name in the same or an earlier folder wins.
    """
    path = named(word, folders)
    return None if path is None or path.suffix == ".so" else path


def named(word: str, folders: Sequence[str]) -> Path | None:
    """The library of ``-lNAME``, static or shared, if it is in one of the folders."""
    name = word.removeprefix("-l")
    names = [name[1:]] if name.startswith(":") else [f"lib{name}.so", f"lib{name}.a"]
    for folder in folders:
        for candidate in names:
            path = Path(folder) / candidate
            if path.is_file():
                return path
    return None


def unpack(path: Path, folder: Path) -> list[Path]:
    """Writes the members of a library to a folder; for a thin library, finds its files.

    Members may have the same name, so the files are numbered.
    """
    data = path.read_bytes()
    thin = data.startswith(_THIN)
    names = b""
    found: list[Path] = []
    at = len(_MAGIC)
    while at + _HEADER <= len(data):
        name = data[at : at + 16].rstrip()
        size = int(data[at + 48 : at + 58])
        at += _HEADER
        special = name in (b"/", b"//", b"/SYM64/")
        body = b"" if thin and not special else data[at : at + size]
        at += len(body) + len(body) % 2
        if name == b"//":
            names = body
        if special:
            continue
        if name.startswith(b"/"):
            start = int(name[1:])
            name = names[start : names.index(b"\n", start)]
        member = name.removesuffix(b"/").decode(errors="surrogateescape")
        if thin:
            found.append(path.parent / member)
            continue
        target = folder / f"{len(found)}-{Path(member).name}"
        target.write_bytes(body)
        found.append(target)
    return found
