"""JSON: what ``--json`` prints."""

import json
from typing import IO

from homenode.results.writers.content import Content, Writer


def _write(content: Content, file: IO[bytes]) -> None:
    file.write(json.dumps(content.document(), indent=2).encode() + b"\n")


ENTRY = Writer("json", "everything, as --json prints it", ("json",), _write)
