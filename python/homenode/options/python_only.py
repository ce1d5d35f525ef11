"""Options that Python itself implements: no engine knows them.

They have the form of the engines' schemas, so that the command line, the types and the
documentation treat them alike.
"""

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
            "description": "A file to which every change of place is written: CSV if its name ends "
            "in .csv, else a JSON object a line.",
            "x-value": "path",
            "x-metavar": "FILE",
            "x-default": "none",
        },
    },
    "advise": {
        "out": {
            "type": "string",
            "description": "A file for the trace with all advice followed, for one machine, policy "
            "and block size only; it can be used like any other trace.",
            "x-value": "path",
            "x-flag": None,
            "x-default": "nowhere",
        },
    },
    "picture": {
        "title": {
            "type": "string",
            "description": "The title above the picture.",
            "x-metavar": "TEXT",
            "x-default": "the program and its arguments",
        },
    },
    "sensitivity": {
        "reinterleave": {
            "type": "integer",
            "minimum": 0,
            "default": 0,
            "description": "Number of other orders to make from each trace, by the transform of "
            "this name; for a single trace 4 unless given.",
            "x-metavar": "K",
        },
        "quantum": {
            "type": "integer",
            "minimum": 1,
            "default": 100,
            "description": "Mean number of references in a turn of these orders.",
            "x-metavar": "Q",
        },
        "seed": {
            "type": "integer",
            "minimum": 0,
            "default": 1,
            "description": "Seed of the first of these orders; each further one has the next seed.",
            "x-metavar": "S",
        },
        "simulation": {"x-options-of": "simulate"},
    },
}
