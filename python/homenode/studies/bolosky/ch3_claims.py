"""What chapters 2 and 3 say in words about the programs, their traces and the ACE."""

from __future__ import annotations

from statistics import median

from homenode.studies.bolosky.ch3_manager import alpha_apart, kernel_ratio, not_following
from homenode.studies.bolosky.ch3_measures import (
    ace_over,
    apart,
    best_size,
    by_style,
    chosen,
    described,
    hit_ratio,
    limit_of_ace,
    local_gap,
    mix,
    numa,
    other_limit,
    ours,
    present,
    private_share,
    row_of,
    sandwiched,
    slow_shares,
)
from homenode.studies.bolosky.printed import stated
from homenode.studies.claims import (
    CLOSE,
    COMPARABLE,
    FEW,
    MOST,
    NEARLY_ALL,
    Claim,
    above,
    below,
    between,
    empty,
    less_than,
    more_than,
    only,
    points,
    share,
)

_ACE_ONLY = "needs an ACE: hardware or kernel of which a trace knows nothing"
_SOURCE_ONLY = "about how the programs were written, which a trace does not say"

_STYLES = (
    Claim(
        "2.1.1",
        "C-threads programs for the Butterfly hand out large data in pieces of 4 KB",
        "4 KB",
        why=_SOURCE_ONLY,
    ),
    Claim(
        "2.1.1",
        "Of the SPLASH programs cholesky and mp3d have poor locality, water is better",
        "water best",
        "MCPR on NUMA, 4 KB blocks",
        lambda e: chosen(numa(e, 4096), "cholesky", "mp3d", "water"),
        lambda v: CLOSE * v["water"] < min(v["cholesky"], v["mp3d"]),
    ),
    Claim(
        "2.1.2",
        "EPEX gives adjacent iterations to the same processor, which may bring some locality",
        "some",
        why=_SOURCE_ONLY,
    ),
    Claim(
        "2.1.3",
        "Presto programs do poorly unless blocks are very small",
        "poorly",
        "median MCPR on NUMA with 4 KB blocks, by style",
        lambda e: by_style(e, 4096) if "presto" in by_style(e, 4096) else chosen({}, "p-qsort"),
        lambda v: v["presto"] == max(v.values()),
    ),
    Claim(
        "2.1.3",
        "Presto programs suffer much false sharing: small blocks make them far cheaper",
        "far",
        "MCPR on NUMA with 64-byte over that with 4 KB blocks",
        lambda e: present(
            {p: v / numa(e, 4096)[p] for p, v in numa(e, 64).items()},
            ("p-gauss", "p-qsort", "p-matmult", "p-life"),
        ),
        less_than(1 / CLOSE),
    ),
)

_PROGRAMS = (
    stated(
        Claim(
            "2.2",
            "EPEX programs make most of their references to private memory",
            "89, 80, 92, 94 %",
            "share of private references",
            lambda e: present(private_share(e), ("e-fft", "e-simp", "e-hyd", "e-nasa")),
            more_than(MOST),
            "%",
        )
    ),
    stated(
        Claim(
            "2.2",
            "C-threads and SPLASH programs make no private references",
            "0",
            "largest share of private references",
            lambda e: max(
                v
                for p, v in private_share(e).items()
                if p not in {"p-gauss", "p-qsort", "p-matmult", "p-life"} and not p.startswith("e-")
            ),
            below(0.01),
            "%",
            kind="identity",
        )
    ),
    Claim(
        "2.2",
        "Table 2.1: shares of reads",
        "51 to 97 %",
        "ours minus the thesis's, where more than five points apart",
        lambda e: {p: d for p, d in apart(e, "table-2.1", "read_share").items() if abs(d) > 0.05},
        empty,
        "%",
        "other compilers and programs; gauss keeps in registers what the ACE's compiler loaded",
    ),
    stated(
        Claim(
            "2.2.1",
            "About 95 % of an EPEX fft's references are to private memory",
            "95 %",
            "share of private references of e-fft",
            lambda e: chosen(private_share(e), "e-fft")["e-fft"],
            points(0.95),
            "%",
            "our fft is another program: its rows are transformed in a private buffer",
        ),
        "table 2.1 has 81.1 million private references of e-fft and 10.1 million others: 89 %",
    ),
    stated(
        Claim(
            "2.2.2",
            "gauss reads five times and writes once in its inner loop",
            "83 %",
            "share of reads of gauss",
            lambda e: chosen(described(e, "read_share"), "gauss")["gauss"],
            points(5 / 6),
            "%",
            "pointers to rows stay in registers: two reads and a write (docs/workloads/gauss.md)",
        )
    ),
    stated(
        Claim(
            "2.2.2",
            "gauss's references are regular: its bands are aligned to pages",
            "regular",
            "MCPR on NUMA with 4 KB blocks",
            lambda e: chosen(numa(e, 4096), "gauss")["gauss"],
            below(COMPARABLE),
            why="a page holds two rows of 2 KB, one of which may still be written while others "
            "read",
        )
    ),
    Claim(
        "2.2.3",
        "chip accepted 146,670 of the 643,552 moves that it considered",
        "23 %",
        why="the trace does not say which moves were accepted",
    ),
    Claim(
        "2.2.4",
        "bsort's and kmerge's data migrate between phases in large pieces",
        "large",
        "cheapest block size on NUMA",
        lambda e: {p: best_size(e, p) for p in ("bsort", "kmerge")},
        above(1024),
    ),
    Claim(
        "2.2.5",
        "One processor makes 55 % of plytrace's references",
        "55 %",
        "share of the busiest processor",
        lambda e: chosen(described(e, "busiest"), "plytrace")["plytrace"],
        points(0.55),
        "%",
    ),
    Claim(
        "2.2.6",
        "sorbyc shares the edges of its bands at a finer grain than sorbyr",
        "finer",
        "MCPR on NUMA with 4 KB blocks",
        lambda e: chosen(numa(e, 4096), "sorbyc", "sorbyr"),
        lambda v: v["sorbyc"] > v["sorbyr"],
    ),
    stated(
        Claim(
            "2.2.7",
            "matmult hardly writes: nearly all of its references read",
            "97 %",
            "share of reads",
            lambda e: chosen(described(e, "read_share"), "matmult")["matmult"],
            points(0.97),
            "%",
        )
    ),
    Claim(
        "2.2.9",
        "cholesky's tasks are large, but much of its sharing is false",
        "much",
        "MCPR on NUMA with 4 KB over that with 64-byte blocks",
        lambda e: chosen(numa(e, 4096), "cholesky")["cholesky"] / numa(e, 64)["cholesky"],
        more_than(CLOSE),
    ),
    stated(
        Claim(
            "2.2.10",
            "water has radically better locality than mp3d",
            "radically",
            "MCPR on NUMA with 4 KB blocks, mp3d over water",
            lambda e: (
                chosen(numa(e, 4096), "mp3d")["mp3d"] / chosen(numa(e, 4096), "water")["water"]
            ),
            more_than(2.0),
        )
    ),
    Claim(
        "2.2.12",
        "p-qsort does badly unless blocks are as small as ten words",
        "40 bytes",
        "cheapest block size on CC among 16, 32, 64, ... bytes",
        lambda e: best_size(e, "p-qsort", "cc"),
        below(64),
    ),
    stated(
        Claim(
            "2.2.14",
            "p-life's world is so small that its bands have poor locality",
            "poor",
            "MCPR on NUMA with 4 KB blocks",
            lambda e: chosen(numa(e, 4096), "p-life")["p-life"],
            more_than(2.0),
        )
    ),
    stated(
        Claim(
            "2.3.2",
            "Traces take 0.8 to 2.2 bytes a reference, 1.4 on average",
            "0.8–2.2",
            "smallest and largest",
            lambda e: (
                min(described(e, "bytes_per_reference").values()),
                max(described(e, "bytes_per_reference").values()),
            ),
            lambda v: v[0] >= 0.8 and v[1] <= 2.2,
            why="our format also finds repetition over long distances, and loops repeat",
        )
    ),
    stated(
        Claim(
            "2.3.2",
            "plytrace compresses best, e-fft and matmult worst",
            "0.85, 2.18, 2.11",
            "bytes a reference",
            lambda e: chosen(described(e, "bytes_per_reference"), "plytrace", "e-fft", "matmult"),
            lambda v: v["plytrace"] == min(v.values()),
            why="a single read stream a processor made matmult long there; ours has one a "
            "program counter",
        )
    ),
)

_ACE = (
    Claim(
        "3",
        "The page manager took two months of work and 1,500 lines",
        "1,500",
        why=_ACE_ONLY,
    ),
    Claim(
        "3.1.1",
        "Global memory takes 2.3 times as long as local on fetches, 1.7 on stores, about 2 with "
        "45 % of stores",
        "2.3, 1.7, 2",
        "ratios of the printed times: no, all, 45 % stores",
        lambda _: (mix(0), mix(1), mix(0.45)),
        lambda v: abs(v[0] - 2.3) < 0.05 and abs(v[1] - 1.7) < 0.05 and abs(v[2] - 2) < 0.05,
        kind="printed",
    ),
    Claim(
        "3.1.1",
        "There is little contention for the ACE's bus and global memory",
        "little",
        why=_ACE_ONLY,
    ),
    Claim(
        "3.1.3",
        "A page is frozen after four invalidations",
        "4",
        "default of the policy ace",
        lambda _: limit_of_ace(),
        lambda value: value == 4,
        kind="identity",
    ),
    Claim(
        "3.2.1",
        "All-local is at most the optimum, and the optimum at most the policy",
        "always",
        "programs for which the order is broken",
        sandwiched,
        empty,
        kind="identity",
    ),
    Claim(
        "3.2.1",
        "Alpha from equation 3.4 is the share of references that are local",
        "like a hit ratio",
        "largest difference over programs",
        hit_ratio,
        below(0.01),
        kind="identity",
    ),
    Claim(
        "3.2.2",
        "ParMult's beta is 0; Gfetch's alpha is 0 and its beta 1",
        "0; 0, 1",
        "from the printed times",
        lambda e: [
            row_of(e.rows("table-3.1-recomputed"), "ParMult")["beta"],
            row_of(e.rows("table-3.1-recomputed"), "Gfetch")["alpha"],
            row_of(e.rows("table-3.1-recomputed"), "Gfetch")["beta"],
        ],
        lambda v: abs(v[0]) < 0.01 and abs(v[1]) < 0.01 and abs(v[2] - 1) < 0.05,
        kind="printed",
    ),
    Claim(
        "3.2.2",
        "Nothing that Gfetch fetches is local under the ACE's policy",
        "0",
        "share of local references",
        lambda e: chosen(ours(e, "table-3.1", "local_share"), "Gfetch")["Gfetch"],
        points(0.0),
        "%",
    ),
    Claim(
        "3.2.3",
        "Primes3 shares memory heavily for writing: only 17 % of its references are local",
        "17 %",
        "share of local references under ACE",
        lambda e: chosen(ours(e, "table-3.1", "local_share"), "Primes3")["Primes3"],
        points(0.17),
        "%",
    ),
    Claim(
        "3.2.3",
        "Nearly all references of Primes1 and Primes2 are local",
        "100, 99 %",
        "share of local references under ACE",
        lambda e: chosen(ours(e, "table-3.1", "local_share"), "Primes1", "Primes2"),
        above(NEARLY_ALL),
        "%",
    ),
    Claim(
        "3.2.3",
        "Table 3.1: the printed alphas follow from the printed times",
        "eleven rows",
        "rows that do not, with what follows",
        lambda e: not_following(e, "alpha"),
        empty,
        kind="printed",
    ),
    Claim(
        "3.2.3",
        "Table 3.1: the printed betas follow from the printed times",
        "eleven rows",
        "rows that do not, with what follows",
        lambda e: not_following(e, "beta"),
        empty,
        why="matmult's beta at G/L = 2.3 is .16, not .26; e-fft's is .57, a last digit beyond "
        "what rounded times explain",
        kind="printed",
    ),
    Claim(
        "3.2.3",
        "Table 3.1: the printed gammas follow from the printed times",
        "eleven rows",
        "rows that do not, with what follows",
        lambda e: not_following(e, "gamma"),
        empty,
        kind="printed",
    ),
    Claim(
        "3.2.3",
        "Table 3.1: alphas of the programs that we have",
        ".94, .96, .98, .89, .76, .96",
        "local references to pages ever written, under the page manager, minus the thesis's",
        alpha_apart,
        between(-0.05, 0.05),
        why="other programs of the same names, whose shares of private data differ",
    ),
    stated(
        Claim(
            "3.2.3",
            "Apart from Gfetch and Primes3 alphas and gammas are very good",
            "very good",
            "median alpha and gamma of our other programs",
            lambda e: tuple(
                median(
                    v
                    for p, v in ours(e, "table-3.1", name).items()
                    if p not in {"Gfetch", "Primes3"}
                )
                for name in ("alpha", "gamma")
            ),
            lambda v: v[0] >= NEARLY_ALL and v[1] <= CLOSE,
        )
    ),
    Claim(
        "3.2.3",
        "Of e-nasa, e-hyd and plytrace only e-hyd makes more than 10 % of its data references to "
        "global memory, 24 %",
        "e-hyd",
        "1 - alpha from the thesis's own times, where above 10 %",
        lambda e: {
            p: 1 - row_of(e.rows("table-3.1-recomputed"), p)["alpha"]
            for p in ("e-nasa", "e-hyd", "plytrace")
            if row_of(e.rows("table-3.1-recomputed"), p)["alpha"] < 0.9
        },
        only("e-hyd"),
        "%",
        "the printed times of e-nasa give 11 %",
        kind="printed",
    ),
    Claim(
        "3.2.3",
        "The same of our programs",
        "e-hyd",
        "share of references that ACE makes to global memory, where above 10 %",
        lambda e: {
            p: 1 - v
            for p, v in present(
                ours(e, "table-3.1", "local_share"), ("e-nasa", "e-hyd", "plytrace")
            ).items()
            if v < 0.9
        },
        only("e-hyd"),
        "%",
    ),
    Claim(
        "3.2.3",
        "Where references stay global that is the program's doing, not the policy's mistake",
        "e-hyd",
        "local references that the optimum has and ACE has not, as a share of all",
        local_gap,
        below(0.1),
        "%",
    ),
    stated(
        Claim(
            "3.2.4",
            "But for Primes3 placing pages costs little system time",
            "0 to 4 %",
            "kernel time that the page manager adds, over the time of the references",
            lambda e: {p: v for p, v in ours(e, "table-3.2", "share").items() if p != "Primes3"},
            below(0.05),
            "%",
            "our traces are shorter than the ACE's runs, so that the first moves of a page weigh "
            "more",
        )
    ),
    Claim(
        "3.2.4",
        "Table 3.2: the printed shares are those of table 3.1's times",
        "six rows",
        "rows that are not, with what follows",
        slow_shares,
        empty,
        "%",
        "matmult's share was taken of T_global, 82.1, instead of T_numa, 69.0",
        kind="printed",
    ),
    Claim(
        "3.2.4",
        "Primes3 would have gained from a lower limit",
        "lower",
        "cost of ACE with one invalidation allowed over that with four, on the ACE",
        lambda e: other_limit(e, "Primes3"),
        less_than(1.0),
    ),
    Claim(
        "3.2.4",
        "Primes1 and e-nasa used less system time with the page manager than without",
        "1.4 against 2.3 s",
        "kernel time with the page manager over that with all pages global",
        lambda e: kernel_ratio(e, "Primes1", "e-nasa"),
        less_than(1.0),
        why="with all pages global our kernel does little but fill pages with zeros and map them",
    ),
    Claim(
        "3.3.2",
        "On the ACE reconsidering a pinned page is unlikely to gain",
        "unlikely",
        "share of programs for which PLATINUM is cheaper than ACE on the ACE",
        lambda e: share(ace_over(e, "platinum")[p] < v / CLOSE for p, v in ace_over(e).items()),
        below(FEW),
        "%",
    ),
    Claim(
        "3.3.3",
        "Pages referenced in system calls can end up pinned because those ran on one processor",
        "stacks",
        why=_ACE_ONLY,
    ),
    Claim(
        "3.4",
        "The simple policy did about as well as any operating system could on the ACE",
        "about as well",
        "median cost of ACE over the optimum",
        lambda e: median(ace_over(e).values()),
        below(CLOSE),
    ),
    Claim(
        "3.4",
        "What remains avoidable is mostly false sharing",
        "dominant",
        why="on the ACE block size is fixed; the studies of chapters 6 and 7 test it",
    ),
)

CLAIMS = (*_STYLES, *_PROGRAMS, *_ACE)
