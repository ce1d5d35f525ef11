"""The utilities' input: a small fixed tree, a log, and the program of awk.

Each works on the same few files in rounds until the recording ends, so that the data it touches do
not grow with the length of the recording (paper, table 1).
"""

import random
from pathlib import Path

from homenode_studies.workloads.ecommerce import database

__all__ = ["FILES", "FOLDERS", "LINES", "write"]

FOLDERS, FILES = 2, 20
"""Folders of the tree that is listed, copied and removed, and files in each."""

LINES = 150
"""Lines of the log that is counted and compressed."""

_COUNT = "{ hits[$7]++; bytes += $10 } END { for (page in hits) print page, hits[page], bytes }\n"


def write(srv: Path, seed: int) -> None:
    """Writes ``files``, ``access.log`` and ``count.awk`` into a folder."""
    rng = random.Random(f"{seed} documents")  # noqa: S311 - files are no secrets
    words = [database.syllables(int(rng.random() * 10**7)).lower() for _ in range(50)]

    def some(count: int) -> str:
        return " ".join(words[int(rng.random() * len(words))] for _ in range(count))

    for i in range(FOLDERS):
        folder = srv / "files" / words[i]
        folder.mkdir(parents=True)
        for j in range(FILES):
            (folder / f"{some(1)}-{j}.html").write_text(some(10 + int(rng.random() * 100)))
    lines = [
        f"10.0.{int(rng.random() * 256)}.{int(rng.random() * 256)} - - "
        f"[01/Jan/2003:12:{i // 60 % 60:02}:{i % 60:02} +0000] "
        f'"GET /{some(1)}.html HTTP/1.0" 200 {int(rng.random() * 50000)}\n'
        for i in range(LINES)
    ]
    (srv / "access.log").write_text("".join(lines))
    (srv / "count.awk").write_text(_COUNT)
