"""Who used which page on a machine with a directory, and which homes served that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Data structures with a smaller part of a home's fills are not listed, but for the first.
_LISTED = 0.01


# A shorter mean wait is shown as 0.
_NO_WAIT = 0.05


def mean_wait(cycles: int, count: int) -> str:
    """The mean wait of `count` requests, in cycles.

    >>> mean_wait(5118, 2), mean_wait(1, 1000), mean_wait(37, 5)
    ('2,559', '0', '7.4')
    """
    mean = cycles / max(1, count)
    return f"{mean:,.0f}" if mean >= 10 or mean < _NO_WAIT else f"{mean:.1f}"


@dataclass(frozen=True)
class PageUse:
    """Who used which page in one simulation, and which homes served that, as columns.

    P pages were filled or written back, in the order of their addresses; U pairs of a page and a
    node did so; S pairs of a home and a data structure have fills; N nodes can be homes. A node is
    that of a processor, or where processors share memories, one of these.

    Attributes:
        page_bytes: bytes in a page.
        nodes: N.
        objects: names of data structures.
        page_address: its first byte; uint64 (P).
        page_home: its home at the end; uint16 (P).
        page_object: the place in `objects` of the one that most of its fills are of; uint32 (P).
        use_page: the page's place in the columns above; uint32 (U).
        use_node: the node; uint16 (U).
        use_fills: blocks of the page that came into the node's caches; uint64 (U).
        use_write_backs: modified blocks of it that these replaced; uint64 (U).
        served_home: the home, at the time of the fill; uint16 (S).
        served_object: the place in `objects`; uint32 (S).
        served_fills: blocks of the object that came from this home; uint64 (S).
        home_controllers: directory controllers that it has, each with a part of its memory; uint64
            (N), and without a clock (0), as the following.
        home_lookups: what they looked up.
        home_lookup_cycles: for how many cycles they did, all together.
        home_lookup_waits: for how many cycles messages waited for that.
        home_accesses: accesses of its memory.
        home_access_cycles: for how many cycles they took it.
        home_access_waits: for how many cycles they waited for it.
    """

    page_bytes: int
    nodes: int
    objects: list[str]
    page_address: NDArray[np.uint64]
    page_home: NDArray[np.uint16]
    page_object: NDArray[np.uint32]
    use_page: NDArray[np.uint32]
    use_node: NDArray[np.uint16]
    use_fills: NDArray[np.uint64]
    use_write_backs: NDArray[np.uint64]
    served_home: NDArray[np.uint16]
    served_object: NDArray[np.uint32]
    served_fills: NDArray[np.uint64]
    home_controllers: NDArray[np.uint64]
    home_lookups: NDArray[np.uint64]
    home_lookup_cycles: NDArray[np.uint64]
    home_lookup_waits: NDArray[np.uint64]
    home_accesses: NDArray[np.uint64]
    home_access_cycles: NDArray[np.uint64]
    home_access_waits: NDArray[np.uint64]

    def fills(self) -> NDArray[np.uint64]:
        """Fills by page and node; uint64 (P, N)."""
        import numpy as np

        found = np.zeros((len(self.page_address), self.nodes), np.uint64)
        found[self.use_page, self.use_node] = self.use_fills
        return found

    def served(self) -> NDArray[np.uint64]:
        """Fills by the home that served them and the data structure; uint64 (N, objects)."""
        import numpy as np

        found = np.zeros((self.nodes, len(self.objects)), np.uint64)
        found[self.served_home, self.served_object] = self.served_fills
        return found

    def hottest(self, homes: int = 3, objects: int = 2) -> list[dict[str, Any]]:
        """The homes that served most fills; of equals the first comes first.

        Args:
            homes: maximum number of homes.
            objects: maximum number of data structures a home. Those with less than a hundredth of
                the home's fills are left out, except the first.

        Returns:
            A dictionary a home: ``node``, ``fills``, ``share`` of all fills, and ``objects``, each
            with its ``label`` and ``share`` of the home's fills. Homes without fills are left out.
        """
        served = self.served()
        by_home = served.sum(axis=1)
        whole = int(by_home.sum())
        order = (-by_home.astype("int64")).argsort(kind="stable")[:homes]
        return [
            {
                "node": int(node),
                "fills": int(by_home[node]),
                "share": int(by_home[node]) / whole,
                "objects": self._most(served[node], objects),
            }
            for node in order
            if by_home[node]
        ]

    def loads(self, node: int, cycles: int) -> tuple[list[float], list[str]]:
        """For a home's controllers and its memory: the part of a run in use, and the mean wait.

        Args:
            node: the home.
            cycles: of the run.
        """
        time = max(1, cycles * int(self.home_controllers[node]))
        busy = (self.home_lookup_cycles, self.home_access_cycles)
        waits = (self.home_lookup_waits, self.home_access_waits)
        counts = (self.home_lookups, self.home_accesses)
        return (
            [int(of[node]) / time for of in busy],
            [mean_wait(int(w[node]), int(n[node])) for w, n in zip(waits, counts, strict=True)],
        )

    def svg(self, title: str = "Who uses which page") -> str:
        """A picture as an SVG file: pages across, those of one object together, nodes down.

        Cells are darker where a node fills more, and blue at the page's home; a dot is at the home.
        """
        from homenode.report.page_use import draw_file

        return draw_file(self, title)

    def _repr_svg_(self) -> str:
        """The picture, for notebooks."""
        return self.svg()

    def _most(self, fills: NDArray[np.uint64], count: int) -> list[dict[str, Any]]:
        whole = int(fills.sum())
        order = (-fills.astype("int64")).argsort(kind="stable")[:count]
        return [
            {"label": self.objects[at], "share": int(fills[at]) / whole}
            for place, at in enumerate(order)
            if fills[at] and (place == 0 or fills[at] >= _LISTED * whole)
        ]
