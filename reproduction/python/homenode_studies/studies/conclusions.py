"""The main conclusions of each publication, and whether the ledgers reproduce them.

A conclusion rests on claims of a ledger. It is reproduced if all of them hold, and reproduced in
direction if those hold that state only the direction of an effect. A claim about which the source
contradicts itself does not count, and a conclusion that rests on one is reproduced in direction at
most.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

REPRODUCED, DIRECTION, NOT = "reproduced", "in direction", "not reproduced"
UNKNOWN = "the source contradicts itself"
_HOLDS, _SOURCE = "holds", "source"


@dataclass(frozen=True)
class Conclusion:
    """A conclusion of a publication.

    Attributes:
        statement: the conclusion, in our words.
        study: the study whose ledger has the claims.
        claims: beginnings of the statements that must hold for the conclusion to be reproduced.
        direction: beginnings of further statements, which must hold for its direction to be
            reproduced.
        why: the reason if it is not reproduced.
    """

    statement: str
    study: str
    claims: Sequence[str]
    direction: Sequence[str] = ()
    why: str = ""

    def verdict(self, verdicts: Mapping[str, str]) -> str:
        """Whether it is reproduced, according to the verdicts of its study's claims.

        >>> one = Conclusion("it is large", "x", ["ten times"], ["more"])
        >>> one.verdict({"ten times as much": "differs", "more of it": "holds"})
        'in direction'
        """
        found = [self._of(claim, verdicts) for claim in self.claims]
        counted = [verdict for verdict in found if verdict != _SOURCE]
        if not counted:
            return UNKNOWN
        if all(verdict == _HOLDS for verdict in counted):
            return REPRODUCED if counted == found else DIRECTION
        weaker = [self._of(claim, verdicts) for claim in self.direction]
        return DIRECTION if weaker and all(it == _HOLDS for it in weaker) else NOT

    def _of(self, begins: str, verdicts: Mapping[str, str]) -> str:
        return verdicts[found_one(begins, verdicts)]


def found_one(begins: str, statements: Mapping[str, str]) -> str:
    """The statement with this beginning.

    Raises:
        LookupError: when there is none, or several.
    """
    found = [statement for statement in statements if statement.startswith(begins)]
    if len(found) != 1:
        raise LookupError(f"{len(found)} claims begin with {begins!r}")
    return found[0]


BOLOSKY = "Bolosky 1993"
MARKATOS = "Markatos and Chronaki"
FOGLIA = "Foglia, Giorgi and Prete 2004"
MARCHETTI = "Marchetti et al. 1995"
TALBOT = "Talbot and Kelly 2000"

CONCLUSIONS: Mapping[str, Sequence[Conclusion]] = {
    BOLOSKY: (
        Conclusion(
            "NUMA is within 20 % of coherent caches for all but one of the programs not in Presto",
            "bolosky-ch6",
            ["NUMA is within 20 % of CC"],
            ["NUMA with small blocks is comparable to CC"],
        ),
        Conclusion(
            "Block size dominates the cost of shared memory",
            "bolosky-ch6",
            ["Block size is the dominant factor"],
        ),
        Conclusion(
            "The advantage of coherent caches over NUMA is their block size, not their speed",
            "bolosky-ch6",
            ["Small blocks, not quick operations", "With 512-byte blocks everywhere NUMA beats CC"],
            ["Small blocks, not quick operations"],
        ),
        Conclusion(
            "Remote reference pays with pages, not with cache lines",
            "bolosky-ch6",
            ["At page-sized blocks remote reference gains", "Remote reference gains little for"],
        ),
        Conclusion(
            "Distributed shared memory with pages suits only the best-behaved programs",
            "bolosky-ch6",
            ["DSM is acceptable only", "The gap between NUMA and DSM+ on the base machines"],
        ),
        Conclusion(
            "Blocks of 64 to 128 bytes are small enough",
            "bolosky-ch6",
            ["From 128 bytes down"],
        ),
        Conclusion(
            "TLB misses cost far less than small pages gain",
            "bolosky-ch6",
            ["Overall TLB misses cost much less"],
        ),
        Conclusion(
            "False sharing is the major reason for poor performance with large blocks",
            "bolosky-ch7",
            ["False sharing is probably the major reason"],
        ),
        Conclusion(
            "Simple on-line policies come near the optimum: 82 and 94 % of what it saves",
            "bolosky-ch5",
            ["ACE achieves 82 %", "PLATINUM achieves 94 %"],
            [
                "ACE and Delay differ little in most programs",
                "PLATINUM generally does better than ACE",
            ],
        ),
        Conclusion(
            "The policy has to suit the machine",
            "bolosky-ch5",
            ["Different architectures need different policies"],
            ["ACE would be wholly inappropriate"],
        ),
        Conclusion(
            "How references interleave matters little",
            "bolosky-ch4",
            ["Possible errors of interleaving", "All changes are below 20 %"],
            ["Possible errors of interleaving"],
        ),
        Conclusion(
            "Good placement makes programs 25 to 50 % faster",
            "bolosky-ch5",
            ["Optimal placement improves whole programs"],
            ["Placing every page once and for all is not enough"],
        ),
    ),
    MARKATOS: (
        Conclusion(
            "Re-alignment of data is the largest single factor",
            "markatos",
            ["Re-alignment is the largest single factor"],
        ),
        Conclusion(
            "Counters are always useful, and best with re-alignment",
            "markatos",
            ["Hardware counters are always useful", "Counters with re-alignment give"],
        ),
        Conclusion(
            "Updates are nearly always better than invalidations; re-aligned, they differ little",
            "markatos",
            ["Updates are almost always better", "Where data are re-aligned well"],
            ["Where data are re-aligned well"],
        ),
        Conclusion(
            "Freezing gains nothing with counters or re-alignment",
            "markatos",
            [
                "Freezing gains nothing for a policy with counters",
                "Freezing is no better than counters",
                "Freezing is no better than re-alignment",
                "Freezing gains nothing for re-aligned data",
            ],
            ["Freezing is no better than counters", "Freezing is no better than re-alignment"],
        ),
        Conclusion(
            "Large pages ruin invalidations and hardly hurt updates",
            "markatos",
            ["Large pages make invalidations very much", "Large pages make updates only"],
        ),
        Conclusion(
            "Replication without other remedies easily costs more than none",
            "markatos",
            ["It is very easy for a policy to cost more"],
        ),
    ),
    FOGLIA: (
        Conclusion(
            "PSCR is the best protocol",
            "foglia",
            ["PSCR has the most power everywhere"],
            why="a present-day kernel writes a shared block many times in a row, and PSCR sends "
            "each; from the paper's statistics it wins with affinity, and loses with random "
            "scheduling on 12 and 16 processors",
        ),
        Conclusion(
            "Affinity reduces passive sharing",
            "foglia",
            [
                "Affinity has fewer transactions of passive sharing",
                "Affinity mainly saves passive sharing",
            ],
        ),
        Conclusion(
            "Larger caches and more ways help four processors",
            "foglia",
            ["Larger caches give four processors more power", "More ways give more power"],
        ),
        Conclusion(
            "All techniques together more than double how far the machine scales",
            "foglia",
            ["All techniques together double the scalability"],
            why="as PSCR does not win with a kernel of today",
        ),
    ),
    MARCHETTI: (
        Conclusion(
            "Placement by first use gains 20 to 40 % for most programs",
            "marchetti",
            ["For most programs placement gains 20 to 40 % in hardware"],
            ["Placement gains up to 40 % in hardware"],
            "all processors write to some of the data of mp3d and water, wherever they are",
        ),
        Conclusion(
            "A very simple policy suffices",
            "marchetti",
            ["A very simple policy suffices", "In many cases more sophisticated policies"],
            ["A very simple policy suffices"],
            "more sophisticated policies make programs slower in a quarter of the cases",
        ),
    ),
    TALBOT: (
        Conclusion(
            "Reactive proxies with first touch are never slower than either placement without",
            "talbot",
            ["Reactive proxies with first touch are never slower"],
            why="in six of seven programs; FMM loses 2 to 3 % with 64 nodes, and gains with 256",
        ),
        Conclusion(
            "Neither first touch nor round-robin suits all programs",
            "talbot",
            ["Neither placement suits all programs"],
        ),
    ),
}
