"""Options that Python itself acts upon: no engine knows them.

They are written as the engines' schemas are, so that the command line, the types and the
documentation treat them alike.
"""

from __future__ import annotations

from typing import Any

OPTIONS: dict[str, dict[str, Any]] = {
    "optimal": {
        "replication": {
            "type": "boolean",
            "default": True,
            "description": "Whether a block may have several copies at a time.",
            "x-flag": None,
        },
        "placement": {
            "type": "string",
            "description": "A file that gets every change of place: CSV if its name ends in .csv, "
            "else a JSON object a line.",
            "x-value": "path",
            "x-metavar": "FILE",
            "x-default": "none",
        },
    },
    "advise": {
        "out": {
            "type": "string",
            "description": "Where to write the trace with all advice followed, for one machine, "
            "policy and block size only; any other function can go on with it.",
            "x-value": "path",
            "x-flag": None,
            "x-default": "nowhere",
        },
    },
    "picture": {
        "title": {
            "type": "string",
            "description": "What stands above the picture.",
            "x-metavar": "TEXT",
            "x-default": "the program and its arguments",
        },
    },
    "sensitivity": {
        "reinterleave": {
            "type": "integer",
            "minimum": 0,
            "default": 0,
            "description": "How many other orders to make of each trace, by the transform of this "
            "name; of a single trace 4 if none are asked for.",
            "x-metavar": "K",
        },
        "quantum": {
            "type": "integer",
            "minimum": 1,
            "default": 100,
            "description": "References of a turn in these, on the average.",
            "x-metavar": "Q",
        },
        "seed": {
            "type": "integer",
            "minimum": 0,
            "default": 1,
            "description": "Seed of the first of these; the others have the seeds after it.",
            "x-metavar": "S",
        },
        "simulation": {"x-options-of": "simulate"},
    },
}
