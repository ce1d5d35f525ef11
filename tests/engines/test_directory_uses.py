"""Which nodes use which page, and which homes serve them: `uses` of a simulation."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import homenode as hn
from homenode import _core

_STALLS = ("busy", "read_stall", "write_stall", "sync_stall", "os_stall")
_HOMES = "round-robin,random,first-touch,first-use,first-fill:n=2,best-static,optimal-static"


@pytest.fixture
def two_objects(tmp_path: Path) -> hn.Trace:
    """Node 0 fills two blocks of `grid` and one of `sums`, node 1 one block of `grid`."""
    path = tmp_path / "two.hnt"
    writer = _core.TraceWriter(str(path))
    writer.push(
        {
            "thread": np.array([0, 0, 1, 0], np.uint16),
            "kind": np.zeros(4, np.uint8),
            "addr": np.array([0x1000, 0x1040, 0x1000, 0x2000], np.uint64),
            "size": np.full(4, 4, np.uint8),
        }
    )
    names = [("grid", 0x1000, 0x1000), ("sums", 0x2000, 64)]
    metadata = {
        **dict.fromkeys(("program", "tool", "method", "order", "sampling"), ""),
        "arguments": [],
        "word_size": 4,
        "ranges": [
            {"start": start, "size": size, "kind": "static", "name": name}
            for name, start, size in names
        ],
        "lines": [],
        "processes": [],
        "provenance": [],
    }
    writer.finish(json.dumps(metadata))
    return hn.Trace.open(path)


def test_pages_nodes_and_objects_are_distinguished(two_objects: hn.Trace) -> None:
    use = hn.simulate(
        two_objects, "dash-mesh", homes="fixed:node=1", order="trace", uses=True
    ).uses[0]
    assert (use.page_bytes, use.nodes) == (4096, 2)
    assert use.page_address.tolist() == [0x1000, 0x2000]
    assert use.page_home.tolist() == [1, 1]
    assert [use.objects[number] for number in use.page_object] == ["grid", "sums"]
    assert use.fills().tolist() == [[2, 1], [1, 0]]
    served = use.served()
    assert served.shape == (2, 2)
    assert served[1].tolist() == [3, 1]
    (home,) = use.hottest()
    assert (home["node"], home["fills"], home["share"]) == (1, 4, 1.0)
    assert home["objects"] == [{"label": "grid", "share": 0.75}, {"label": "sums", "share": 0.25}]
    # There is no time in the order of the trace.
    assert use.home_lookups.size == 0


def test_columns_have_the_documented_types(two_objects: hn.Trace) -> None:
    use = hn.simulate(two_objects, "dash-mesh", homes="first-touch", uses=True).uses[0]
    types = {
        "page_address": np.uint64,
        "page_home": np.uint16,
        "page_object": np.uint32,
        "use_page": np.uint32,
        "use_node": np.uint16,
        "use_fills": np.uint64,
        "use_write_backs": np.uint64,
        "served_home": np.uint16,
        "served_object": np.uint32,
        "served_fills": np.uint64,
        "home_controllers": np.uint64,
        "home_access_waits": np.uint64,
    }
    assert {name: getattr(use, name).dtype for name in types} == types
    assert use.home_lookups.shape == (2,)


def test_page_uses_are_collected_only_on_request(two_objects: hn.Trace) -> None:
    assert hn.simulate(two_objects, "dash-mesh", order="trace").uses == []


def _check_sums(row: dict[str, Any], use: hn.PageUse) -> None:
    fills = row["fills"]
    assert use.use_fills.sum() == use.served_fills.sum() == use.fills().sum() == fills
    assert use.use_write_backs.sum() == row["write_backs"]
    if row["home"] != "first-use" and not row["pages_moved"]:
        near = use.page_home[use.use_page] == use.use_node
        assert use.use_fills[near].sum() == row["local_fills"]
    if row["order"] == "clock":
        assert sum(row[name] for name in _STALLS) == row["processors"] * row["cycles"]
        waits = use.home_lookup_waits.sum() + use.home_access_waits.sum()
        queued = use.home_lookups.sum() + use.home_accesses.sum()
        assert row["mean_queue_cycles"] == int(waits) / int(queued)
        controllers = int(use.home_controllers.sum()) * row["cycles"]
        assert row["controller_utilisation"] == int(use.home_lookup_cycles.sum()) / controllers
        assert row["memory_utilisation"] == int(use.home_access_cycles.sum()) / controllers
        assert row["max_queue"] >= 1


@pytest.mark.parametrize(
    ("machine", "options"),
    [
        ("dash-mesh", {"order": "trace"}),
        ("dash-mesh", {}),
        ("dash-mesh", {"protocols": "lrc"}),
        ("dash-mesh", {"protocols": "lrc", "replications": "counter:n=2"}),
        ("dash-mesh", {"scaling": [2, 3]}),
        ("spr-2s-directory", {}),
        ("genoa-8n-directory", {}),
    ],
)
def test_sums_agree_with_the_row(machine: str, options: dict[str, Any]) -> None:
    trace = hn.synthetic("t-s", references=4001)
    chosen = {"cache_sizes": 4096, "associativities": 1, **options}
    if machine != "dash-mesh":
        chosen = options
    result = hn.simulate(trace, machines=machine, homes=_HOMES, uses=True, **chosen)
    assert len(result.uses) == len(result.rows) > 0
    for row, use in zip(result.rows, result.uses, strict=True):
        _check_sums(row, use)
    plain = hn.simulate(trace, machines=machine, homes=_HOMES, **chosen)
    assert plain.rows == result.rows


def test_what_is_measured_is_collected_from_there_on() -> None:
    trace = hn.synthetic("t-s", references=4001)
    result = hn.simulate(
        trace, "dash-mesh", homes="first-touch,first-use", measure_from="init-done", uses=True
    )
    for row, use in zip(result.rows, result.uses, strict=True):
        _check_sums(row, use)


def test_an_empty_machine_has_no_waits() -> None:
    trace = hn.Trace.from_numpy(thread=[0], kind=["R"], address=[0x1000])
    (row,) = hn.simulate(trace, "dash-mesh", homes="first-touch").rows
    assert (row["mean_queue_cycles"], row["max_queue"]) == (0, 1)
