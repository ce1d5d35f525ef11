"""Transactions for pgbench, with the queries of the shop's pages.

For the mix with only the database: 21 connections run one transaction after the other. A
transaction has the queries of one page and the frequency of visits to that page.
"""

from collections.abc import Sequence
from pathlib import Path

from homenode.errors import ConfigError
from homenode_studies.workloads.ecommerce.database import Scale

__all__ = ["TRANSACTIONS", "checked", "script", "write"]

_FOLDER = Path(__file__).resolve().parent / "queries"

# Buying a cart locks the books in the order of their numbers, so buyers cannot deadlock.
_BUY = ("BEGIN", "price", "order+", "line", "stock", "charge", "COMMIT")

TRANSACTIONS: dict[str, tuple[int, tuple[str, ...]]] = {
    "home": (1600, ("customer", "promotions")),
    "new-products": (500, ("promotions", "new-products")),
    "best-sellers": (500, ("promotions", "best-sellers")),
    "product-detail": (1700, ("product",)),
    "search-request": (2000, ("promotions",)),
    "search-author": (567, ("promotions", "search-author")),
    "search-title": (567, ("promotions", "search-title")),
    "search-subject": (566, ("promotions", "search-subject")),
    "shopping-cart": (1160, ("promotions", "price")),
    "customer-registration": (300, ("promotions",)),
    "buy-request": (208, ("login", "residence", "price")),
    "buy-request-new": (52, ("new-customer", "price")),
    "buy-confirm": (120, _BUY),
    "order-display": (66, ("last-order", "lines")),
    "admin-request": (10, ("product",)),
    "admin-confirm": (9, ("administer", "product")),
}
"""The frequency of each page per 10,000 (TPC-W, clause 5.2.1, shopping mix), and its queries.

The result of a query that ends with + is used by the next ones.
"""


def script(name: str, scale: Scale) -> str:
    r"""One transaction as pgbench reads it.

    >>> from homenode_studies.workloads.ecommerce.database import Scale
    >>> print(script("product-detail", Scale()).splitlines()[0])
    \set item random(1, 100000)
    """
    most = {
        "item": scale.items,
        "customer": scale.customers,
        "subject": 24,
        "country": 92,
        "quantity": 3,
        "cents": 50_000,
        # An existing order, until the query that places an order sets its number.
        "number": scale.orders,
    }
    lines = [f"\\set {variable} random(1, {limit})" for variable, limit in most.items()]
    lines.append("\\set line 1")
    for query in TRANSACTIONS[name][1]:
        path = _FOLDER / f"{query.removesuffix('+')}.sql"
        text = path.read_text().strip() if path.exists() else query
        lines.append(text + (" \\gset" if query.endswith("+") else ";"))
    return "\n".join(lines) + "\n"


def checked(names: Sequence[str]) -> tuple[str, ...]:
    """The names of the given transactions, or of all if none is given.

    Raises:
        ConfigError: when there is no such transaction.
    """
    for name in names:
        if name not in TRANSACTIONS:
            raise ConfigError(
                f"there is no transaction {name!r}; choose from {', '.join(TRANSACTIONS)}"
            )
    return tuple(names) or tuple(TRANSACTIONS)


def write(folder: Path, scale: Scale, names: Sequence[str] = ()) -> None:
    """Writes transactions, and ``scripts``: pgbench's words that name them."""
    folder.mkdir(parents=True)
    words = []
    for name in checked(names):
        weight = TRANSACTIONS[name][0]
        (folder / f"{name}.sql").write_text(script(name, scale))
        words.append(f"-f /srv/pgbench/{name}.sql@{weight}")
    (folder / "scripts").write_text(" ".join(words) + "\n")
