"""Causes of waits for memory."""

from typing import Any

from homenode.options.specs import percent

CAUSES = ("false_sharing", "true_sharing", "replacement", "cold")
"""The causes of waits, first those that a layout may remove."""

LEAST_GAIN = 1 / 40
"""The least gain of a layout that is advised, as a part of the time."""


def others(time: dict[str, Any], shown: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The waits for all other objects, as one row; None if there are none.

    >>> waits = {cause: {"transactions": 2, "cycles": 25} for cause in CAUSES}
    >>> part = {cause: {"transactions": 1, "cycles": 10} for cause in CAUSES}
    >>> rest = others({"waits": waits, "processor_cycles": 1000}, [{"waits": part}])
    >>> rest["share"], rest["false_sharing_share"], rest["waits"]["cold"]
    (0.06, 0.015, {'transactions': 1, 'cycles': 15})
    """
    rest = {
        cause: {
            what: time["waits"][cause][what] - sum(row["waits"][cause][what] for row in shown)
            for what in ("transactions", "cycles")
        }
        for cause in CAUSES
    }
    cycles = sum(waits["cycles"] for waits in rest.values())
    if not cycles:
        return None
    return {
        "label": "all other objects",
        "bytes": None,
        "waits": rest,
        "share": cycles / time["processor_cycles"],
        "false_sharing_share": rest["false_sharing"]["cycles"] / time["processor_cycles"],
    }


def where_time_goes(time: dict[str, Any]) -> str:
    """The parts of the processors' time that wait for lines, as a sentence."""
    false, true, other = (
        percent(time[f"{cause}_share"] or 0) for cause in ("false_sharing", "true_sharing", "other")
    )
    return (
        f"Of the processors' time {false} waits for lines of which they share no data (false "
        f"sharing), {true} for lines whose data they share, {other} for lines that are not in the "
        "cache."
    )


def layouts_gain_at_most(time: dict[str, Any]) -> str:
    """Why no layout gains a fortieth, where processors wait less than that; else empty.

    >>> layouts_gain_at_most({"sharing_elapsed_cycles": 19, "cycles": 1000})
    ': only in 1.9% of it does a processor wait for lines that threads share'
    >>> layouts_gain_at_most({"sharing_elapsed_cycles": 900, "cycles": 1000})
    ''
    """
    part = time["sharing_elapsed_cycles"] / max(time["cycles"], 1)
    if part >= LEAST_GAIN:
        return ""
    return f": only in {100 * part:.1f}% of it does a processor wait for lines that threads share"
