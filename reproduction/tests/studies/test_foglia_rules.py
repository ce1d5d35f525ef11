"""The rules by which claims of Foglia, Giorgi and Prete are judged, on invented points."""

import pytest

from foglia_points import judged, point
from homenode_studies.studies.claims import find
from homenode_studies.studies.foglia import DB, EC, WEB, matrix
from homenode_studies.studies.foglia.claims import CLAIMS
from homenode_studies.studies.foglia.claims_blocks import misses_once
from homenode_studies.studies.foglia.claims_distributed import in_order
from homenode_studies.studies.foglia.judging import EXTENSION, scales_to
from homenode_studies.studies.foglia.matrix import Setting
from homenode_studies.studies.tables import Evidence


@pytest.mark.parametrize(
    ("powers", "verdicts"),
    [
        ((1.1, 1.2, 1.3), ["holds", "holds"]),
        ((1.2, 1.1, 1.3), ["differs", "holds"]),
        ((0.9, 0.8, 0.7), ["differs", "differs"]),
        ((1.3, 1.2, 1.1), ["differs", "differs"]),
    ],
)
def test_protocols_differ_in_the_direction_of_the_paper(
    powers: tuple[float, ...], verdicts: list[str]
) -> None:
    points = [
        point(EC, Setting(protocol, n, scheduler=policy), gsp=power if protocol == "pscr" else 1)
        for n, power in zip(matrix.MANY, powers, strict=True)
        for policy in matrix.SCHEDULERS
        for protocol in matrix.PROTOCOLS
    ]
    grows = "The difference between protocols grows with the processors"
    few = "With few processors the choice of the protocol matters less"
    assert [judged(grows, points), judged(few, points)] == verdicts


@pytest.mark.parametrize(("pscr", "verdict"), [(3, "holds"), (1, "differs")])
def test_the_order_of_the_protocols_is_the_paper_s(pscr: int, verdict: str) -> None:
    powers = {"mesi": 1.5, "amsd": 2, "pscr": pscr}
    points = [
        point(workload, matrix.SERVER.changed(protocol=name), gsp=power)
        for workload in (EC, DB, WEB)
        for name, power in powers.items()
    ]
    assert judged("The protocols have the same order in all three workloads", points) == verdict


@pytest.mark.parametrize("quick", [True, False])
def test_small_caches_may_scale_to_less_than_four_processors(quick: bool) -> None:
    base = matrix.SMALL_BLOCKS.changed(processors=4, cache_size=matrix.SIZES[0])
    wanted = [s for s in matrix.wanted(EC, quick) if s.changed(processors=4) == base]
    assert {setting.processors for setting in wanted} >= {1, 2, 4}
    points = [point(EC, s, gsp=1 + s.processors / 10) for s in wanted]
    assert judged("128 KB caches let a machine scale to four processors", points) == "differs"


def test_a_share_of_a_growth_needs_a_growth() -> None:
    base = matrix.SMALL_BLOCKS
    grown = "The growth of the invalidation misses is mostly due to the kernel"
    for of_eight, verdict in ((15, "holds"), (5, "not testable")):
        points = [
            point(EC, base.changed(processors=n), misses_invalidation_true=misses)
            | {"kernel_misses_invalidation_true": misses}
            for n, misses in ((4, 10), (8, of_eight))
        ]
        assert judged(grown, points) == verdict
    saved = "Affinity mainly saves passive sharing"
    for remaining, verdict in ((5, "holds"), (15, "not testable")):
        points = [
            point(EC, Setting(), coherence_passive=10),
            point(EC, matrix.AFFINE, coherence_passive=remaining),
        ]
        assert judged(saved, points) == verdict


def test_scalabilities_are_tried_on_table_5() -> None:
    own = {claim.statement: find(claim, Evidence({})).own for claim in CLAIMS}
    plain = "128-byte blocks, affinity and PSCR let a machine scale to 20 processors"
    assert (own[plain], own["which have a power of 16"]) == ("20", "16")
    assert own["2 MB caches let it scale to nine"] == "9"
    assert own[f"{EXTENSION}{plain}"] == "", "the paper prints nothing of the extension"


def test_bus_uses_that_contradict_each_other_are_the_source_s() -> None:
    points = [
        point(EC, Setting(block_size=block), bus_utilisation=use)
        for block, use in ((32, 0.71), (256, 0.43))
    ]
    assert judged("They use the bus for 71 %", points) == "source"
    assert judged("They use the bus for 43 %", points) == "source"


def _machines(*protocols: str) -> list[tuple[str, int, str]]:
    """Figures 14 to 18: every protocol with 8, 12 and 16 processors and both schedulings."""
    return [(p, n, policy) for p in protocols for n in matrix.MANY for policy in matrix.SCHEDULERS]


@pytest.mark.parametrize(
    ("random", "affine", "verdict"),
    [
        ((7, 9.5, 10.5), (7.4, 10.4, 12), "holds"),
        ((7, 8.5, 9.5), (7.4, 10.4, 12), "differs"),
        ((7, 9.5, 12), (7.4, 10.4, 12), "differs"),
    ],
)
def test_amsd_saturates_with_both_schedulings_after_twelve(
    random: tuple[float, ...], affine: tuple[float, ...], verdict: str
) -> None:
    points = [
        point(EC, Setting("amsd", n, scheduler=policy), gsp=power)
        for policy, powers in (("random", random), ("affinity", affine))
        for n, power in zip(matrix.MANY, powers, strict=True)
    ]
    said = "AMSD saturates between 12 and 16 processors with either scheduling"
    assert judged(said, points) == verdict


@pytest.mark.parametrize(("amsd", "verdict"), [(30, "holds"), (10, "differs")])
def test_the_coherence_of_pscr_costs_less_than_that_of_both_others(amsd: int, verdict: str) -> None:
    messages = {"mesi": 40, "amsd": amsd, "pscr": 20}
    points = [
        point(EC, Setting(p, n, scheduler=policy), transactions_write=messages[p])
        for p, n, policy in _machines(*messages)
    ]
    said = "but they cost less: its coherence holds the bus for fewer cycles"
    assert judged(said, points) == verdict


def test_twice_the_power_is_tried_on_table_5() -> None:
    twice = "PSCR with 16 processors has twice the power of MESI with eight"
    claim = next(claim for claim in CLAIMS if claim.statement == twice)
    assert find(claim, Evidence({})).own == "affinity 1.89"


@pytest.mark.parametrize(("more", "verdict"), [(1.05, "holds"), (1.01, "differs")])
def test_powers_that_differ_by_less_than_a_tie_are_the_same(more: float, verdict: str) -> None:
    points = [
        point(workload, matrix.SERVER.changed(protocol=protocol, processors=n), gsp=power)
        for n in (8, 16)
        for workload, power in ((EC, 10), (DB, 10 / more), (WEB, 10 * more))
        for protocol in matrix.PROTOCOLS
    ]
    points += [
        point(EC, matrix.SERVER.changed(protocol=matrix.EXTENDED, processors=n), gsp=10 * more)
        for n in (8, 16)
    ]
    for said in (
        "Treating kernel structures of one process as a private area improves PSCR further",
        "DB has less power than EC-server",
        "Web-server has more power than EC-server",
        "DB is the part with the least power",
    ):
        assert judged(said, points) == verdict
    assert judged("The protocols have the same order in all three workloads", points) == "differs"


@pytest.mark.parametrize(
    ("published", "holds"),
    [(4, [4]), (9, [8, 10]), (18, [18]), (20, [18, 20, 22])],
)
def test_a_scalability_is_within_a_tenth_or_between_two_numbers(
    published: int, holds: list[int]
) -> None:
    simulated = [1, *range(2, 25, 2)]
    assert [n for n in simulated if scales_to(published)(n)] == holds


def test_protocols_of_the_same_power_have_no_order() -> None:
    assert in_order({"MESI": 1.0, "PSCR": 1.5, "AMSD": 1.01}) == "PSCR > AMSD = MESI"


@pytest.mark.parametrize(("smallest", "verdict"), [(50, "holds"), (110, "differs")])
def test_larger_blocks_are_judged_with_every_cache(smallest: int, verdict: str) -> None:
    points = [
        point(
            EC,
            Setting(cache_size=size, block_size=block),
            bus_utilisation=share / 200,
            misses_invalidation_true=share,
            kernel_misses_invalidation_true=share,
            misses_invalidation_false=share,
            kernel_misses_invalidation_false=share,
        )
        for size in matrix.SIZES
        for block, share in zip(matrix.BLOCKS, (100, 80, 60, 40), strict=True)
    ]
    points[3] |= {
        name: value * smallest / 40
        for name, value in points[3].items()
        if name == "bus_utilisation" or "invalidation" in name
    }
    for said in (
        "Larger blocks reduce the load on the bus",
        "Misses of true sharing in the kernel fall with the block size",
        "Misses of false sharing in the kernel fall with the block size",
    ):
        assert judged(said, points) == verdict


@pytest.mark.parametrize(("read", "verdict"), [(110, "holds"), (60, "differs")])
def test_blocks_written_back_are_compared_with_those_read(read: int, verdict: str) -> None:
    fetched = {"read_block_memory": read - 10, "read_block_cache": 10}
    fetched |= {"read_invalidate_memory": 500, "read_invalidate_cache": 500, "update_block": 10}
    points = [
        point(EC, matrix.SMALL_BLOCKS.changed(processors=4, cache_size=size))
        | {f"transactions_{name}": number for name, number in fetched.items()}
        for size in matrix.SIZES
    ]
    said = "Update transactions are fewer than a tenth of the read-block transactions"
    assert judged(said, points) == verdict


def test_misses_once_have_the_first_fetches_of_a_run_of_the_paper_s_length() -> None:
    row = point(EC, Setting(), misses_cold=2, misses_replacement=3) | {"references": 260_000_000}
    row["block_references"] = 1000
    assert misses_once(row) == pytest.approx(0.3 + 2 * 0.2)


@pytest.mark.parametrize(("database", "verdict"), [(30, "holds"), (8, "differs")])
def test_both_databases_write_more_than_the_web_server(database: int, verdict: str) -> None:
    counts = {"fetches": 700, "references": 1000, "processes": 1, "with_kernel": True}
    names = ("distinct_blocks", "shared_blocks", "shared_references", "shared_writes", "kernel")
    counts |= dict.fromkeys(names, 0)
    counts |= {"written_shared_blocks": 0, "written_shared_references": 0}
    rows = [
        counts | {"workload": workload, "application": application, "writes": writes}
        for workload, application, writes in (
            (EC, "PostgreSQL", 20),
            (DB, "PostgreSQL", database),
            (EC, "Apache", 10),
        )
    ]
    claim = next(c for c in CLAIMS if c.statement == "PostgreSQL writes more than Apache")
    assert find(claim, Evidence({"footprints": rows})).verdict == verdict


@pytest.mark.parametrize(("share", "verdict"), [(1.7, "holds"), (1.0, "differs")])
def test_a_share_of_shared_references_is_about_the_printed_one(share: float, verdict: str) -> None:
    rows = [
        {"workload": workload, "written_shared_access": value}
        for workload, value in ((EC, 1.68), (DB, share), (WEB, 1.54))
    ]
    said = "1.5 to 1.8 % of a workload's references are to shared data"
    claim = next(c for c in CLAIMS if c.statement == said)
    assert find(claim, Evidence({"table-3": rows})).verdict == verdict


@pytest.mark.parametrize(
    ("misses", "verdict"),
    [((60, 50, 40, 30, 20, 25), "holds"), ((60, 70, 40, 30, 20, 25), "differs")],
)
def test_false_sharing_grows_with_no_smaller_block(misses: tuple[int, ...], verdict: str) -> None:
    blocks = (*matrix.BLOCKS, *matrix.LARGE_BLOCKS)
    points = [
        point(EC, Setting(block_size=block), misses_invalidation_false=count)
        for block, count in zip(blocks, misses, strict=True)
    ]
    said = "Misses of false sharing grow with the block only from 1024 bytes on"
    assert judged(said, points) == verdict


@pytest.mark.parametrize(("largest", "verdict"), [(5.3, "holds"), (6.9, "differs")])
def test_larger_blocks_gain_less_with_every_cache(largest: float, verdict: str) -> None:
    points = [
        point(EC, Setting(cache_size=size, block_size=block), gsp=power)
        for size in matrix.SIZES
        for block, power in zip(matrix.BLOCKS, (4, 4.5, 5, 5.3), strict=True)
    ]
    points[3]["gsp"] = largest
    said = "Blocks beyond 128 bytes gain less than the doublings before"
    assert judged(said, points) == verdict


@pytest.mark.parametrize(("smaller", "verdict"), [(0.5, "holds"), (0.62, "differs")])
def test_what_is_utilised_as_well_suffices(smaller: float, verdict: str) -> None:
    points = [
        point(EC, matrix.SMALL_BLOCKS.changed(cache_size=size), processor_utilisation=smaller)
        for size in matrix.SIZES
    ]
    four = matrix.SMALL_BLOCKS.changed(processors=4, cache_size=matrix.SIZES[0])
    points.append(point(EC, four, processor_utilisation=0.65))
    assert judged("and smaller caches do not suffice", points) == verdict
