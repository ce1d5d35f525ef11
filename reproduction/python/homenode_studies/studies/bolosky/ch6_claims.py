"""Claims of chapter 6 about machines and block sizes."""

from statistics import median
from typing import Any

from homenode_studies.studies.bolosky.ch6_conclusions import CLAIMS_64, CLAIMS_624, first_larger
from homenode_studies.studies.bolosky.ch6_measures import (
    NUMA_WINS,
    absent,
    base_ratio,
    best_at_most,
    best_points,
    best_ratio,
    best_sizes,
    cheaper_when_smaller,
    eight_against_four,
    monotone,
    move_4k,
    numa_by_tables,
    numa_wins,
    of_program,
    often_remote,
    policy_free,
    remote_value_grows,
    rise,
    share_above,
    share_below,
    size_change,
    size_ratio,
    sorbyr_rank,
    table_6_3,
    violations,
    wins_by_table,
)
from homenode_studies.studies.bolosky.ch6_tlb_claims import TLB_CLAIMS
from homenode_studies.studies.bolosky.printed import thesis
from homenode_studies.studies.claims import (
    CLOSE,
    FEW,
    HALF,
    MOST,
    NEARLY_ALL,
    TENFOLD,
    TIE,
    Claim,
    above,
    below,
    between,
    disagreement,
    empty,
    less_than,
    more_than,
    some,
)

THIRD = 1.3


def _in_thesis(pair: Any) -> bool:
    return tuple(pair) == (11776.0, 2323.0)


_CLAIMS_61 = (
    Claim(
        "6.1.1",
        "At equal block sizes machines dominate one another: CC+ is never more expensive than any "
        "other, NUMA and CC never more expensive than DSM, NUMA never than DSM+, DSM+ never than "
        "DSM",
        "always",
        "points at which the order is broken",
        violations,
        empty,
        kind="identity",
    ),
    Claim(
        "6.1.1",
        "Machines without remote reference have no placement decisions to make",
        "none",
        "largest difference between the optimum and always migrating, on CC and DSM",
        policy_free,
        below(1e-9),
        kind="identity",
    ),
    Claim(
        "6.1.2",
        "The formulas of table 6.2 give the prices of table 6.3",
        "five machines",
        "machines whose r or R differs",
        table_6_3,
        empty,
        kind="identity",
    ),
    Claim(
        "6.1.2",
        "Most programs lay out their data for 4 KB pages; many are much slower with 8 KB pages",
        "many",
        "share of programs more than a tenth more expensive on NUMA at 8 KB than at 4 KB",
        eight_against_four,
        more_than(FEW),
        "%",
        post_hoc="at first many was more than half; few is at most a fifth, many more than few",
    ),
)

_CLAIMS_621 = (
    Claim(
        "6.2.1",
        "On the base machines CC costs less than NUMA for most programs",
        "most",
        "share of programs",
        lambda e: share_above(base_ratio(e, "numa", "cc"), 1),
        more_than(MOST),
        "%",
    ),
    Claim(
        "6.2.1",
        "The gap between NUMA and DSM+ on the base machines is often large",
        "often",
        "share of programs where DSM+ costs more than a tenth more",
        lambda e: share_above(base_ratio(e, "dsm+", "numa"), CLOSE),
        more_than(MOST),
        "%",
    ),
    Claim(
        "6.2.1",
        "The gap between DSM+ and DSM on the base machines is often large",
        "often",
        "share of programs where DSM costs more than a tenth more",
        lambda e: share_above(base_ratio(e, "dsm", "dsm+"), CLOSE),
        more_than(MOST),
        "%",
    ),
    Claim(
        "6.2.1",
        "With 4 KB pages remote reference is used often: NUMA refers more than it moves",
        "often",
        "share of programs with more remote references than moves on NUMA",
        often_remote,
        more_than(MOST),
        "%",
    ),
    Claim(
        "5.2.1",
        "e-fft only seems to share at a fine grain: with small blocks it is far cheaper",
        "false sharing",
        "e-fft on NUMA with 64-byte over that with 4 KB blocks",
        lambda e: of_program(size_change(e, 64, 4096), "e-fft"),
        less_than(1 / CLOSE),
    ),
    Claim(
        "6.2.1",
        "For some programs DSM+ costs nearly twice what NUMA does: most of NUMA's communication is "
        "remote reference",
        "mp3d, p-matmult",
        "DSM+ over NUMA on the base machines",
        lambda e: (
            {p: r for p, r in base_ratio(e, "dsm+", "numa").items() if p in {"mp3d", "p-matmult"}}
            or absent("mp3d, p-matmult")
        ),
        above(1.8),
        why="checked: p-matmult has 1.65 with 64 by 64 numbers and 1.89 with 40 by 40, as more "
        "rows then share a page and fewer moves pay. mp3d has 1.79 instead of the rule's 1.8, also "
        "with half and twice as many particles and without collisions, and 2.03 if threads take "
        "sixteen particles in turn (--clump 16), as fewer cells then stay with a thread",
    ),
    Claim(
        "6.2.1",
        "A remote reference costs about 2.5 times as much on DSM+ as on NUMA",
        "2.5",
        "ratio of r in table 6.3",
        lambda e: 250 / 102 if not table_6_3(e) else absent("the prices of table 6.3"),
        between(2.25, 2.75),
        kind="printed",
    ),
    Claim(
        "6.2.1",
        "On the base machines CC+ and CC are much cheaper than NUMA almost throughout",
        "nearly all",
        "share of programs where NUMA costs more than a tenth more than CC+",
        lambda e: share_above(base_ratio(e, "numa", "cc+"), CLOSE),
        above(NEARLY_ALL),
        "%",
        contradicted="the thesis names four of its nineteen programs as exceptions: 79 % remain",
        own=lambda _: 15 / 19,
    ).tried_on(thesis),
    Claim(
        "6.2.1",
        "NUMA beats CC+ on the base machines only for gauss, bsort, kmerge and sorbyr",
        "those four",
        "programs named but not found, or found but not named",
        lambda e: disagreement(numa_wins(e), NUMA_WINS, best_points(e).programs()),
        empty,
        why="checked: it is as the thesis says, NUMA first, with pages of 2 KB, one row of gauss "
        "each (1.009, CC+ 1.028); and NUMA is behind with planes of e-nasa of half a page (-n 16: "
        "1.95, 1.16), with matmult's rows distributed cyclically (1.359, 1.305), and with each "
        "pair of water's molecules computed once (water-nsq: 1.40, as in table 6.5, 1.20)",
    ),
    Claim(
        "6.2.1",
        "If NUMA beats CC+ on the base machines, it does so by a small amount",
        "small",
        "NUMA over CC+ where it is below one",
        lambda e: some(numa_wins(e), "NUMA beats CC+ for none of our programs"),
        above(1 / CLOSE),
        contradicted="by table 6.5 kmerge costs NUMA 1.12 with 4 KB and 1.46 with 128 bytes; if "
        "CC+ moved only half of each such block, at 184 instead of 339, it would pay 1.25",
        own=lambda _: wins_by_table(thesis()),
    ).tried_on(thesis),
    Claim(
        "6.2.1",
        "Moving 4 KB costs 11,776 in lines of 64 bytes on CC+ and 2,323 as one page",
        "11,776 and 2,323",
        "64 lines at R of CC+, and R of NUMA",
        move_4k,
        _in_thesis,
        kind="printed",
    ),
)

_CLAIMS_622 = (
    Claim(
        "6.2.2",
        "With 512-byte blocks everywhere NUMA is nearly as good as CC+",
        "nearly",
        "median of NUMA over CC+ at 512 bytes",
        lambda e: median(size_ratio(e, "numa", "cc+", 512).values()),
        below(CLOSE),
    ),
    Claim(
        "6.2.2",
        "With 512-byte blocks everywhere NUMA beats CC for most programs",
        "most",
        "share of programs where it does by more than a tie",
        lambda e: share_below(size_ratio(e, "numa", "cc", 512), 1 - TIE),
        more_than(MOST),
        "%",
        post_hoc="any margin sufficed",
    ),
    Claim(
        "6.2.2",
        "Small blocks, not quick operations, are why hardware coherence wins on the base machines",
        "block size",
        "median NUMA/CC+ on the base machines; the same at 512 bytes",
        lambda e: (
            median(base_ratio(e, "numa", "cc+").values()),
            median(size_ratio(e, "numa", "cc+", 512).values()),
        ),
        first_larger,
    ),
)

_CLAIMS_623 = (
    Claim(
        "6.2.3",
        "cholesky and p-qsort get cheaper as blocks get smaller, on every machine, except perhaps "
        "for the smallest size",
        "64 B to 8 KB",
        "machines on which a size from 64 bytes up costs more than the next larger",
        lambda e: monotone(e, ("cholesky", "p-qsort")),
        empty,
        why="checked: with stacks of 64 words instead of 1,024 p-qsort is cheapest with 64 bytes "
        "on CC and DSM, and costs 3.20 with 64 and 3.19 with 128 on CC+: Presto fills and searches "
        "stacks here, which move as a whole. Not explained: cholesky is cheapest with 128 or 256 "
        "with grids of 12 to 96, also as recorded, with numbers of 4 bytes, without the locks of "
        "panels, with panels row by row, and with one panel for each column",
    ),
    Claim(
        "6.2.3",
        "Most programs behave like cholesky and p-qsort",
        "typical",
        "share of programs cheaper on NUMA at 64 bytes than at 4 KB",
        lambda e: cheaper_when_smaller(e, "numa"),
        more_than(MOST),
        "%",
    ),
    Claim(
        "6.2.3",
        "The value of remote reference grows with block size",
        "always",
        "share of doublings at which CC/CC+ or DSM/DSM+ does not fall",
        remote_value_grows,
        above(NEARLY_ALL),
        "%",
    ),
    Claim(
        "6.2.3",
        "sorbyr is cheapest between 1 KB and 4 KB",
        "1 to 4 KB",
        "cheapest block size on each machine",
        lambda e: best_sizes(e, "sorbyr"),
        between(1024, 4096),
    ),
    Claim(
        "6.2.3",
        "On every machine at every block size sorbyr is much better than most programs",
        "most",
        "share of (program, machine, size) where sorbyr costs less",
        sorbyr_rank,
        more_than(MOST),
        "%",
    ),
    Claim(
        "6.2.3",
        "sorbyr gets markedly more expensive at small block sizes",
        "markedly",
        "NUMA at 32 bytes over its best",
        lambda e: rise(e, "sorbyr"),
        above(CLOSE),
    ),
    Claim(
        "6.2.3",
        "NUMA's best for sorbyr is at 2 KB and only slightly above CC+",
        "2 KB, 0 %",
        "best of NUMA over best of CC+",
        lambda e: of_program(best_ratio(e, "numa"), "sorbyr"),
        below(CLOSE),
    ).tried_on(thesis),
    Claim(
        "6.2.3",
        "At their best block sizes CC and NUMA are mostly within 20 to 30 % of CC+ (table 6.4)",
        "30 %",
        "share of programs within 30 %: CC, NUMA",
        lambda e: tuple(share_below(best_ratio(e, m), THIRD) for m in ("cc", "numa")),
        more_than(MOST),
        "%",
    ).tried_on(thesis),
    Claim(
        "6.2.3",
        "At their best block sizes DSM+ and DSM are mostly within 50 % of CC+ (table 6.4)",
        "50 %",
        "share of programs within 50 %: DSM+, DSM",
        lambda e: tuple(share_below(best_ratio(e, m), HALF) for m in ("dsm+", "dsm")),
        more_than(MOST),
        "%",
    ).tried_on(thesis),
    Claim(
        "6.2.3",
        "On the base machines NUMA and the DSMs commonly cost ten times what CC and CC+ do",
        "ten times",
        "share of programs that cost more than ten times as much as on CC+: NUMA, DSM+, DSM",
        lambda e: tuple(
            share_above(base_ratio(e, m, "cc+"), TENFOLD) for m in ("numa", "dsm+", "dsm")
        ),
        more_than(FEW),
        "%",
        post_hoc="it was applied to the largest ratio of any program, which says nothing about "
        "what is common",
        contradicted="by tables 6.4 and 6.5, taking 128 bytes as NUMA's best page, NUMA costs at "
        "most 4.6 times as much (p-qsort); figure 6.2 has bars without numbers and is not used",
        own=lambda _: share_above(numa_by_tables(thesis()), TENFOLD),
    ).tried_on(thesis),
    Claim(
        "6.2.3",
        "In most programs less false sharing outweighs the overhead of moving data in small pieces",
        "most",
        "share of programs whose best block on NUMA is at most 512 bytes",
        lambda e: best_at_most(e, 512),
        more_than(MOST),
        "%",
    ),
)

CLAIMS = (
    *_CLAIMS_61,
    *_CLAIMS_621,
    *_CLAIMS_622,
    *_CLAIMS_623,
    *CLAIMS_624,
    *TLB_CLAIMS,
    *CLAIMS_64,
)
