"""Puts a report together: simulates, collects, and renders one self-contained HTML file.

The figures are drawn here as SVG and HTML with a small script for pointing and keyboard. Against
plotly (4.5 MB of script in every report) this keeps a report near 100 KB, readable without script,
in dark and light, on paper and by keyboard.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from homenode import _core
from homenode.options.specs import unique
from homenode.options.tables import core_table
from homenode.report import heatmap, lines, sentences
from homenode.report.page import environment, script_json
from homenode.results.palette import COST_COLOURS, colour_of
from homenode.results.result import Result, ratio_of
from homenode.sanitize import sanitized

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from homenode.report.answer import Answer
    from homenode.report.directory import DirectoryReport
    from homenode.trace import Trace

    Progress = Callable[[int, int | None], None] | None

_USUAL_BLOCK = 4096
_WORST = 8
_INQUIRY = frozenset(
    "machines policies block_sizes processors private sync filter threads force".split()
)

COST_PARTS = (
    ("local", "local references"),
    ("remote", "remote references"),
    ("global", "global references"),
    ("remote_moves", "moves between processors"),
    ("global_moves", "moves from and to global memory"),
    ("replication", "replications"),
    ("multicast", "updates of copies"),
    ("os", "entries into the operating system"),
)


@dataclass(frozen=True)
class Study:
    """One trace and the findings about it.

    Attributes:
        name: what to call it, usually the program.
        info: `Trace.info`.
        outcomes: the simulation's rows.
        costs: where the cost comes from (``_core.worst_blocks``): worst blocks, objects, map.
        point: machine, policy and block size of `costs`.
        notes: further sentences, for example what a demonstration checked.
        answer: what to know first, with advice.
        directory: what a machine with a directory does, if one was chosen.
        filtered: how caches filtered the trace (``cache_filter`` of the provenance), if any did.
    """

    name: str
    info: dict[str, Any]
    outcomes: Sequence[dict[str, Any]]
    costs: dict[str, Any] | None = None
    point: dict[str, Any] | None = None
    notes: Sequence[str] = field(default_factory=tuple)
    answer: Answer | None = None
    directory: DirectoryReport | None = None
    filtered: dict[str, Any] | None = None


def study(
    trace: Trace, result: Result, name: str | None = None, progress: Progress = None
) -> Study:
    """Collects the contents of a report about one trace; its name is by default the program's.

    Raises:
        TraceError: when the trace is damaged.
    """
    point = worst_point(result)
    config = {name: value for name, value in point.items() if name in _INQUIRY}
    found = _core.worst_blocks(str(trace.path), json.dumps(config), _WORST, progress)
    return Study(
        name=name or Path(str(trace.info["metadata"]["program"] or trace.path)).name,
        info=trace.info,
        outcomes=result.rows,
        filtered=result.provenance.get("cache_filter"),
        costs=json.loads(found),
        point=point,
    )


def worst_point(result: Result) -> dict[str, Any]:
    """The configuration at which the worst blocks are looked for: what the report shows first.

    The policy is the best on-line one there: costs that remain even under it are worth removing.
    """
    machine, size, here = _usual(result.rows)
    on_line = [r for r in here if r["policy"].partition(":")[0] not in sentences.OFF_LINE] or here
    best = min(on_line, key=lambda r: float("inf") if r["mcpr"] is None else r["mcpr"])
    chosen = {"machines": [machine], "policies": [best["policy"]], "block_sizes": [size]}
    return result.configuration | chosen


def usual_size(sizes: Sequence[int]) -> int:
    """The block size shown first: 4 KB where it was simulated, else the middle one."""
    return _USUAL_BLOCK if _USUAL_BLOCK in sizes else sizes[len(sizes) // 2]


def _usual(rows: Sequence[dict[str, Any]]) -> tuple[str, int, list[dict[str, Any]]]:
    """The machine and block size shown first, and the rows there."""
    machine, size = rows[0]["machine"], usual_size(sorted({row["block_size"] for row in rows}))
    return machine, size, [r for r in rows if (r["machine"], r["block_size"]) == (machine, size)]


def _best(rows: Sequence[dict[str, Any]]) -> float | None:
    """The MCPR of the optimum, if it is among the rows."""
    return next((row["mcpr"] for row in rows if row["policy"] == "optimal"), None)


def render(
    studies: Sequence[Study], *, title: str, command: str, configuration: dict[str, Any]
) -> str:
    """The report as HTML text.

    Args:
        studies: what to report, one section each.
        title: the question at the top.
        command: the command line that makes the same report again.
        configuration: what was simulated, for the provenance.
    """
    templates = environment()
    templates.filters |= {
        "percent": sentences.percent,
        "times": sentences.times,
        "colour": colour_of,
        "ticked": _ticked,
    }
    sections = [_section(index, item) for index, item in enumerate(studies)]
    policies = unique(row["policy"] for item in studies for row in item.outcomes)
    data = [section.pop("data") for section in sections]
    return templates.get_template("report.html.jinja").render(
        title=title,
        sections=sections,
        clip=lines.clip(),
        summary=_summary(studies),
        policies=_policies(policies),
        machines=_machines(studies, configuration),
        parts=[(key, name, COST_COLOURS[key]) for key, name in COST_PARTS],
        command=command,
        configuration=json.dumps(configuration, indent=2),
        version=_core.version(),
        data=script_json({"parts": [key for key, _ in COST_PARTS], "studies": data}),
    )


def _ticked(text: str) -> Markup:
    """Text with words in backticks set as code."""
    parts = [escape(part) for part in sanitized(text).split("`")]
    marked = [Markup("<code>{}</code>").format(p) if i % 2 else p for i, p in enumerate(parts)]
    return Markup("").join(marked)


def _section(index: int, item: Study) -> dict[str, Any]:
    rows = item.outcomes
    machines = unique(row["machine"] for row in rows)
    policies = unique(row["policy"] for row in rows)
    sizes = sorted({row["block_size"] for row in rows})
    panels = [_panel(machine, policies, sizes, rows) for machine in machines]
    limits = lines.value_range(panels)
    machine, size, here = _usual(rows)
    costs = item.costs or {}
    map_ = costs.get("map")
    present = [key for key, _ in COST_PARTS if any(row["cost"].get(key) for row in rows)]
    return {
        "id": f"study-{index}",
        "index": index,
        "name": item.name,
        "info": item.info,
        "program": item.info["metadata"],
        "machines": machines,
        "policies": policies,
        "sizes": sizes,
        "machine": machine,
        "size": size,
        "parts": present,
        "bars": bars(here),
        "unit": _unit(here),
        "references": here[0]["references"],
        "filtered": item.filtered,
        "sentences": sentences.distance(here),
        "notes": item.notes,
        "answer": item.answer,
        "directory": item.directory.section() if item.directory else None,
        "panels": [lines.draw(panel, limits) for panel in panels] if len(sizes) > 1 else [],
        "beyond": lines.beyond(panels, limits),
        "series": [(panel.machine, panel.series) for panel in panels],
        "trends": [
            (p.machine, sentences.block_size_trend(p.sizes, p.series["optimal"]))
            for p in panels
            if "optimal" in p.series and len(sizes) > 1
        ],
        "best": _best(here),
        "costs": costs,
        "point": item.point,
        "heat": heatmap.draw(map_) if map_ and map_["rows"] else None,
        "data": _data(item, machines, policies, sizes),
    }


def _unit(rows: Sequence[dict[str, Any]]) -> str:
    """The unit of whole costs."""
    return "ns" if "total_ns" in rows[0] else "local references"


def _panel(
    machine: str, policies: list[str], sizes: list[int], rows: Sequence[dict[str, Any]]
) -> lines.Panel:
    found = {(r["policy"], r["block_size"]): r["mcpr"] for r in rows if r["machine"] == machine}
    series = {policy: [found.get((policy, size)) for size in sizes] for policy in policies}
    return lines.Panel(machine, sizes, series)


def bars(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One bar a policy, cheapest first: its MCPR, its parts per reference, its distance.

    Raises nothing; a policy that the machine cannot run has no parts and comes last.
    """
    best = next((row["total_cost"] for row in rows if row["policy"] == "optimal"), None)
    found = []
    for row in rows:
        mcpr, accesses = row["mcpr"], max(row["accesses"], 1)
        parts = {
            key: (row["cost"].get(key) or 0) / accesses if mcpr is not None else 0.0
            for key, _ in COST_PARTS
        }
        found.append(
            {
                "policy": row["policy"],
                "mcpr": mcpr,
                "total": row.get("total_ns", row["total_cost"]),
                "parts": parts,
                "ratio": ratio_of(row["total_cost"], best),
            }
        )
    limit = bar_limit([bar["mcpr"] for bar in found], best and best / max(rows[0]["accesses"], 1))
    for bar in found:
        bar["limit"] = limit
    infinite = float("inf")
    return sorted(found, key=lambda bar: infinite if bar["mcpr"] is None else bar["mcpr"])


def bar_limit(values: Sequence[float | None], best: float | None) -> float:
    """The MCPR at the right end of the bars; longer ones are cut off and say so."""
    finite = [value for value in values if value is not None]
    if not finite:
        return 1.0
    largest = max(finite)
    return min(largest, 8 * best) if best else largest


def _data(
    item: Study, machines: list[str], policies: list[str], sizes: list[int]
) -> dict[str, Any]:
    """The numbers of a section for its script, the rows of ``simulate --json`` among them."""
    return {
        "name": item.name,
        "machines": machines,
        "policies": policies,
        "sizes": sizes,
        "sharing": item.costs and item.costs["map"],
        "pages": item.directory.read_out() if item.directory else [],
        "outcomes": pack(item.outcomes),
    }


def pack(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Outcomes as fields and rows: a fifth of the size in the file.

    >>> pack([{"policy": "ace", "cost": {"local": 3}}])
    {'fields': ['policy', 'cost.local'], 'rows': [['ace', 3]]}
    """
    flat = [
        {
            name if inner is None else f"{name}.{inner}": found
            for name, value in row.items()
            for inner, found in (value.items() if isinstance(value, dict) else [(None, value)])
        }
        for row in rows
    ]
    fields = unique(name for row in flat for name in row)
    return {"fields": fields, "rows": [[row.get(name) for name in fields] for row in flat]}


def _summary(studies: Sequence[Study]) -> list[dict[str, Any]]:
    """One line a study for the top of the report."""
    found = []
    for item in studies:
        machine, size, here = _usual(item.outcomes)
        sentence = next(iter(sentences.distance(here)), "")
        shown = {"name": item.name, "info": item.info, "machine": machine, "size": size}
        found.append({**shown, "sentence": sentence, "best": _best(here)})
    return found


def _policies(names: Sequence[str]) -> list[dict[str, str]]:
    known = {row["name"]: row for row in core_table("policies")}
    return [
        {"name": name, "summary": str(known.get(name.partition(":")[0], {}).get("summary", ""))}
        for name in names
    ]


def _machines(studies: Sequence[Study], configuration: dict[str, Any]) -> list[dict[str, Any]]:
    """Every machine with its prices at every block size that was simulated."""
    found = []
    for name in unique(row["machine"] for item in studies for row in item.outcomes):
        rows = [row for item in studies for row in item.outcomes if row["machine"] == name]
        sizes = sorted({row["block_size"] for row in rows})
        force = bool(configuration.get("force"))
        prices = json.loads(_core.machine_prices(name, sizes, force))
        found.append(
            {
                "name": name,
                "summary": prices[0]["summary"],
                "source": prices[0]["source"],
                "notes": unique(note for price in prices for note in price["notes"]),
                "prices": prices,
            }
        )
    return found
