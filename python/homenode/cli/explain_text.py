"""Protocols in the terminal: their tables, and everything that happens in a walk."""

from typing import Any

from homenode.cli.output import echo
from homenode.cli.tables import numbers, page_width, print_table, texts
from homenode.options.specs import counted
from homenode.report import controllers, messages, steps

Data = dict[str, Any]

# Cells of a narrower column would have too many lines to read.
_COLUMN = 25


def print_protocols(data: Data) -> None:
    """Prints tables and walks of protocols, given what ``homenode explain --json`` prints."""
    for protocol in data["protocols"]:
        echo(f"{protocol['name']}: {protocol['summary']}\nSource: {protocol['source']}\n")
        if data.get("kind") == "directory":
            _print_controllers(protocol["table"])
            _print_messages(protocol, data)
            echo(messages.summary(protocol))
        else:
            _print_cells(protocol["table"])
            _print_transactions(protocol, data)
            echo(steps.summary(protocol))
        echo()


def _print_meanings(of: Data, names: tuple[str, ...], title: str | None = None) -> None:
    """Prints what states and the like mean; the title belongs to the first of them."""
    for what in names:
        if of[what]:
            rows = [[row["name"], row["meaning"]] for row in of[what]]
            shown = title if what == names[0] else None
            print_table(texts(what[:-1], "meaning"), rows, shown)


def _print_cells(table: Data) -> None:
    """Prints the table of a protocol on a bus."""
    _print_meanings(table, ("states", "conditions"))
    print_table(
        texts("state", "event", "others", "bus transaction", "data from", "next"),
        [steps.cell(row) for row in table["rows"]],
        "What a cache does",
        labels=3,
    )
    print_table(texts("other copies see", "they become"), steps.others(table))


def _print_transactions(protocol: Data, data: Data) -> None:
    """Prints a walk on a bus: a row for each step."""
    walk = steps.seen(protocol["walk"])
    places = data["trace"]["numbers"] if data["trace"] else None
    print_table(
        [
            *numbers("step", *([] if places is None else ["in the trace"])),
            *texts("reference", "hit or miss", "bus", "data from", *walk["caches"], "memory"),
            *numbers("cycles"),
        ],
        [
            [
                str(number),
                *([] if places is None else [f"{places[step['reference']]:,}"]),
                *steps.columns(step, walk),
            ]
            for number, step in enumerate(walk["steps"], 1)
        ],
        steps.title(data, protocol),
    )
    echo(steps.legend(walk))
    if others := steps.unseen(protocol["walk"]):
        echo(others)


def _print_controllers(table: Data) -> None:
    """Prints the tables of a protocol with messages."""
    for controller in table["controllers"]:
        _print_controller(controller)
    print_table(
        texts("message", "meaning", "counted as", "carries the block"),
        [
            [one["name"], one["meaning"], one["kind"], "yes" if one["carries_block"] else ""]
            for one in table["messages"]
        ],
    )


def _print_controller(controller: Data) -> None:
    title = controller["title"]
    _print_meanings(controller, ("states", "events", "senders"), title)
    grid = controllers.grid(controller)
    wide = max(1, (page_width() - _COLUMN) // _COLUMN)
    for first in range(0, len(grid.events), wide):
        shown = slice(first, first + wide)
        print_table(
            texts("state", *(event["name"] for event in grid.events[shown])),
            [
                [state, *("\n".join(map(str, lines)) for lines in cells[shown])]
                for state, cells in grid.rows
            ],
            f"{title}: what it does in a state when something comes",
            lines=True,
        )
    echo("What never happens, and why:")
    for name, reason in grid.reasons.items():
        echo(f"  ({name}) {reason}")
    echo()


def _print_messages(protocol: Data, data: Data) -> None:
    """Prints a walk of nodes: a row for each step, and one for each action that it causes."""
    walk = protocol["walk"]
    directory = "page at home" if "pages" in walk else "directory"
    columns = texts("what comes", "where", "state", "what is done", directory)
    rows = [
        row
        for number, step in enumerate(walk["steps"], 1)
        for row in (_step(number, step, walk, data), *(_act(a, step, walk) for a in step["acts"]))
    ]
    title = steps.title(data, protocol)
    print_table([*numbers("step"), *columns, *numbers("messages")], rows, title)
    echo(
        f"Homes: {data['home']}. Only messages between different nodes are counted; "
        f"{steps.places(walk)}."
    )


def _step(number: int, step: Data, walk: Data, data: Data) -> list[str]:
    part = data["trace"]
    place = f" (number {part['numbers'][step['reference']]:,} of the trace)" if part else ""
    cycles = f", {counted(step['cycles'], 'cycle')}" if step.get("cycles") else ""
    what = f"{messages.reference(step, walk)}{place}: {messages.outcome(step)}{cycles}"
    at_home = messages.at_home(step, walk)
    if "pages" not in walk:
        at_home = f"home N{messages.homed(step)[step['block']]['entry']['home']}"
    return [str(number), what, "", "", messages.holders(step, walk), at_home, ""]


def _act(act: Data, step: Data, walk: Data) -> list[str]:
    return [
        "",
        f"  {messages.message(act)}{messages.about(act, step, walk)}",
        messages.controller(act),
        messages.change(act),
        messages.does(act),
        messages.entry(act["entry"]),
        messages.number(act),
    ]
