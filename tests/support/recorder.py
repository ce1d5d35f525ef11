"""The recorder in a process of its own: a program that hangs must not hang the test.

The process loads nothing else and ends without tidying up, as hundreds of tests start it.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from homenode import _core

PYTHON = (sys.executable, "-I", "-S", "-c")
IMPORTED = f"import sys; sys.path.append({str(Path(_core.__file__).parent)!r}); import _core; "
_RECORD = IMPORTED + (
    "print(_core.record(sys.argv[1], None), file=open(sys.argv[2], 'w')); "
    "import posix; posix._exit(0)"
)


def recorder(options: Mapping[str, Any], summary: Path) -> list[str]:
    """The command that records with these options, and writes the recorder's summary to a file."""
    return [*PYTHON, _RECORD, json.dumps(options), str(summary)]
