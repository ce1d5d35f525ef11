"""Coherence in software: `homenode.simulate` with the protocol `lrc`."""

from typing import Any

import pytest

import homenode as hn
from support import workloads
from support.command import Command

_OPTIONS: dict[str, Any] = {"sync": "exclude", "homes": "round-robin"}


@pytest.fixture(scope="module")
def banded(tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    """Bands of one array, whose edges are read by neighbours after each barrier."""
    return workloads.bands(tmp_path_factory.mktemp("lrc"), 64, 3)


def _simulated(trace: hn.Trace, **options: Any) -> dict[str, Any]:
    (row,) = hn.simulate(trace, "dash-mesh", **{"protocols": "lrc", **_OPTIONS, **options})
    return row


def test_the_time_of_all_processors_is_accounted_for(banded: hn.Trace) -> None:
    row = _simulated(banded)
    parts = ("busy", "read_stall", "write_stall", "sync_stall", "os_stall")
    assert sum(row[part] for part in parts) == row["processors"] * row["cycles"]
    assert row["deadlocks_broken"] == 0
    # Each mapping of a page and each fill of a line is a request with an answer.
    sent = row["messages"]
    faults = sent["read_fault"] + sent["write_fault"] + sent["upgrade"]
    assert sent["mapped"] == faults > 0
    assert sent["line"] == sent["fetch"] == row["fills"] - row["local_fills"]
    assert sent["written_back"] == sent["write_back"]
    assert sent["acknowledge"] <= sent["write_notice"] + row["processors"] * sent["modified"]
    assert row["page_faults"] > 0
    assert row["tlb_misses"] > 0


def test_releases_of_one_trip_save_time_and_no_message(banded: hn.Trace) -> None:
    trips, one = (
        _simulated(banded, protocols=name, check=True) for name in ("lrc", "lrc-one-trip")
    )
    assert one["cycles"] < trips["cycles"]
    assert one["messages"]["modified"] == trips["messages"]["modified"] > 0
    assert one["messages"]["written_back"] == one["messages"]["write_back"]


def test_nothing_depends_on_the_threads_of_the_host(banded: hn.Trace) -> None:
    homes = "round-robin,first-touch,first-use,best-static"
    one, four = (
        hn.simulate(
            banded, "dash-mesh", protocols="lrc", **{**_OPTIONS, "homes": homes}, threads=threads
        )
        for threads in (1, 4)
    )
    assert list(one) == list(four)


def test_pages_move_to_who_uses_them(banded: hn.Trace) -> None:
    fixed = _simulated(banded, homes="round-robin")
    used = _simulated(banded, homes="first-use")
    assert fixed["pages_moved"] == 0 < used["pages_moved"]
    assert used["local_fill_share"] > fixed["local_fill_share"]


def test_pages_are_copied_to_who_reads_them(banded: hn.Trace) -> None:
    none, some = (_simulated(banded, replications=text) for text in ("none", "counter:n=1"))
    assert none["pages_replicated"] == none["replicas_dropped"] == 0
    assert 0 < some["replicas_dropped"] <= some["pages_replicated"]
    assert some["local_fills"] > none["local_fills"]
    at_once = _simulated(banded, replications="counter-interrupt:n=1")
    assert at_once["pages_replicated"] > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--protocol", "lrc", "--order", "trace"], "--protocol lrc needs --order clock: "),
        (["--protocol", "dash", "--replication", "time"], "--replication time: dash keeps blocks"),
        (["--protocol", "lrc", "--replication", "time:n=0"], "n is a number from 1 to "),
        (["--protocol", "lrc", "--replication", "always"], 'unknown replication "always": expect'),
    ],
)
def test_what_cannot_be_is_refused(
    homenode: Command, banded: hn.Trace, words: list[str], said: str
) -> None:
    done = homenode("simulate", str(banded.path), "--machine", "dash-mesh", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_the_list_of_replications_has_their_parameters() -> None:
    rows = {row["name"]: row for row in hn.table("replications")}
    assert list(rows) == ["none", "time", "counter", "counter-interrupt"]
    assert [parameter["name"] for parameter in rows["counter"]["parameters"]] == ["n"]
