"""The rows of the eight tables of TPC-W, made only from a seed.

Source: TPC-W, version 1.0.1, clauses 1.4 (the tables), 4.3 (numbers of rows) and 4.6 (their
contents), as far as the queries use them: comments and descriptions are random letters.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

Row = tuple[object, ...]

__all__ = ["SUBJECTS", "TABLES", "Scale", "rows", "syllables", "write"]

SUBJECTS = (
    *("ARTS", "BIOGRAPHIES", "BUSINESS", "CHILDREN", "COMPUTERS", "COOKING", "HEALTH"),
    *("HISTORY", "HOME", "HUMOR", "LITERATURE", "MYSTERY", "NON-FICTION", "PARENTING"),
    *("POLITICS", "REFERENCE", "RELIGION", "ROMANCE", "SELF-HELP", "SCIENCE-NATURE"),
    *("SCIENCE-FICTION", "SPORTS", "YOUTH", "TRAVEL"),
)
"""Subjects of books (clause 4.6.2.13)."""

COUNTRIES = 92
IMAGES = 100
"""Number of pictures of each kind; item i has picture i modulo this number."""

_SYLLABLES = ("BA", "OG", "AL", "RI", "RE", "SE", "AT", "UL", "IN", "NG")
_BACKINGS = ("HARDBACK", "PAPERBACK", "USED", "AUDIO", "LIMITED-EDITION")
_SHIPPING = ("AIR", "UPS", "FEDEX", "SHIP", "COURIER", "MAIL")
_STATES = ("PROCESSING", "SHIPPED", "PENDING", "DENIED")
_CARDS = ("VISA", "MASTERCARD", "DISCOVER", "AMEX", "DINERS")
_LETTERS = "abcdefghijklmnopqrstuvwxyz "


@dataclass(frozen=True)
class Scale:
    """The size of the shop.

    items: rows of ``item``; TPC-W allows 1,000, 10,000 and so on, the paper has about
        100,000.
    customers: rows of ``customer``; TPC-W requires 2,880 per browser.
    """

    items: int = 100_000
    customers: int = 57_600

    @property
    def authors(self) -> int:
        """A quarter of the items."""
        return max(1, self.items // 4)

    @property
    def addresses(self) -> int:
        """Two per customer."""
        return 2 * self.customers

    @property
    def orders(self) -> int:
        """Nine per ten customers."""
        return max(1, self.customers * 9 // 10)


class _Random(random.Random):
    """Random values, drawn from `random.random`, which is the same in all versions of Python."""

    def up_to(self, most: int) -> int:
        """From 1 to `most`."""
        return 1 + int(self.random() * most)

    def one(self, of: tuple[str, ...]) -> str:
        return of[int(self.random() * len(of))]

    def text(self, least: int, most: int) -> str:
        length = least + int(self.random() * (most - least + 1))
        start = int(self.random() * (len(_PAPER) - most))
        return _PAPER[start : start + length].strip() or "x"

    def price(self, most: int) -> str:
        return f"{self.up_to(most * 100) / 100:.2f}"

    def date(self, first: int, last: int) -> str:
        year = first + int(self.random() * (last - first + 1))
        return f"{year}-{self.up_to(12):02}-{self.up_to(28):02}"

    def time(self, first: int, last: int) -> str:
        hour, minute = int(self.random() * 24), int(self.random() * 60)
        return f"{self.date(first, last)} {hour:02}:{minute:02}:00"


def _paper() -> str:
    rng = random.Random(1)  # noqa: S311 - not for secrets
    return "".join(_LETTERS[int(rng.random() * len(_LETTERS))] for _ in range(1 << 16))


_PAPER = _paper()


def syllables(number: int) -> str:
    """A name for a number, with a syllable for each of seven digits (clause 4.6.2.10).

    >>> syllables(209)
    'BABABABAALBANG'
    """
    return "".join(_SYLLABLES[int(digit)] for digit in f"{number:07}")


def _country(_: Scale, rng: _Random) -> Iterator[Row]:
    for i in range(1, COUNTRIES + 1):
        yield i, f"Country {syllables(i)}", f"{1 + rng.random() * 9:.6f}", syllables(i)


def _author(scale: Scale, rng: _Random) -> Iterator[Row]:
    for i in range(1, scale.authors + 1):
        first, middle, life = rng.text(3, 20), rng.text(1, 20), rng.text(125, 500)
        yield i, first, syllables(i), middle, rng.date(1930, 1990), life


def _address(scale: Scale, rng: _Random) -> Iterator[Row]:
    for i in range(1, scale.addresses + 1):
        street = (rng.text(15, 40), rng.text(15, 40), rng.text(4, 30))
        yield i, *street, rng.text(2, 20), rng.text(5, 10), rng.up_to(COUNTRIES)


def _customer(scale: Scale, rng: _Random) -> Iterator[Row]:
    for i in range(1, scale.customers + 1):
        name = syllables(i)
        yield (
            *(i, name, name.lower(), rng.text(8, 15), rng.text(8, 15)),
            *(2 * i - 1, rng.up_to(10**9), f"{name}@example.com", rng.date(1998, 2000)),
            *(rng.date(2001, 2002), rng.time(2002, 2002), rng.time(2003, 2003)),
            *(f"{rng.random() * 0.5:.2f}", "0.00", rng.price(999), rng.date(1930, 1990)),
            rng.text(100, 400),
        )


def _item(scale: Scale, rng: _Random) -> Iterator[Row]:
    for i in range(1, scale.items + 1):
        # The first books have one author each; the authors of the others are random.
        author = i if i <= scale.authors else rng.up_to(scale.authors)
        title = f"{syllables(i)} {rng.text(0, 40)}"
        srp = rng.up_to(999_900) / 100
        related = [rng.up_to(scale.items) for _ in range(5)]
        picture = i % IMAGES
        size = " x ".join(f"{rng.up_to(9999) / 100:.2f}" for _ in range(3))
        yield (
            *(i, title[:60], author, rng.date(1930, 2002), rng.text(14, 60)),
            *(rng.one(SUBJECTS), rng.text(100, 500), *related),
            *(f"thumb_{picture}.gif", f"image_{picture}.jpg", f"{srp:.2f}"),
            *(f"{srp * (0.5 + rng.random() / 2):.2f}", rng.date(2002, 2003)),
            *(10 + rng.up_to(20), f"{i:013}", 20 + rng.up_to(9979), rng.one(_BACKINGS)),
            size,
        )


def _orders(scale: Scale, rng: _Random) -> Iterator[Row]:
    for i in range(1, scale.orders + 1):
        total = rng.up_to(99_900) / 100
        tax = total * 0.0825
        yield (
            *(i, rng.up_to(scale.customers), rng.time(2002, 2002), f"{total:.2f}"),
            *(f"{tax:.2f}", f"{total + tax + 3:.2f}", rng.one(_SHIPPING)),
            *(rng.time(2003, 2003), rng.up_to(scale.addresses)),
            *(rng.up_to(scale.addresses), rng.one(_STATES)),
        )


def _order_line(scale: Scale, rng: _Random) -> Iterator[Row]:
    for order in range(1, scale.orders + 1):
        for line in range(1, rng.up_to(5) + 1):
            discount = f"{rng.random() * 0.3:.2f}"
            item, quantity = rng.up_to(scale.items), rng.up_to(300)
            yield line, order, item, quantity, discount, rng.text(20, 100)


def _cc_xacts(scale: Scale, rng: _Random) -> Iterator[Row]:
    for i in range(1, scale.orders + 1):
        yield (
            *(i, rng.one(_CARDS), rng.up_to(10**16 - 1), rng.text(14, 30)),
            *(rng.date(2003, 2005), f"{rng.up_to(10**15 - 1):015}", rng.price(999)),
            *(rng.time(2002, 2002), rng.up_to(COUNTRIES)),
        )


TABLES: dict[str, Callable[[Scale, _Random], Iterator[Row]]] = {
    "country": _country,
    "author": _author,
    "address": _address,
    "customer": _customer,
    "item": _item,
    "orders": _orders,
    "order_line": _order_line,
    "cc_xacts": _cc_xacts,
}
"""The generators of each table's rows, in an order in which rows refer only to existing ones."""


def rows(table: str, scale: Scale, seed: int) -> Iterator[Row]:
    """The rows of a table; each table has its own random numbers.

    >>> next(rows("country", Scale(), seed=1))[:2]
    (1, 'Country BABABABABABAOG')
    """
    return TABLES[table](scale, _Random(f"{seed} {table}"))


def write(folder: Path, scale: Scale, seed: int) -> dict[str, int]:
    """Writes ``TABLE.txt`` for each table, for PostgreSQL's COPY; returns the numbers of rows.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(pathlib.Path(folder), Scale(items=100, customers=10), seed=1)["item"]
    100
    """
    counts = {}
    for table in TABLES:
        count = 0
        with (folder / f"{table}.txt").open("w", encoding="ascii") as file:
            for row in rows(table, scale, seed):
                file.write("\t".join(map(str, row)) + "\n")
                count += 1
        counts[table] = count
    return counts
