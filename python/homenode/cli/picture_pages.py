"""`homenode picture` with a machine that has a directory: who fills which page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import homenode
from homenode import _core
from homenode.cli.progress import Progress
from homenode.engines.table import engines_with
from homenode.errors import ConfigError
from homenode.options.declared import options_of

if TYPE_CHECKING:
    from homenode.engines.page_use import PageUse

_MACHINE, _HOME = "dash-mesh", "first-touch"


@dataclass(frozen=True)
class PagePicture:
    """Who fills which page in one simulation.

    Attributes:
        title: what stands above the picture.
        use: who fills which page.
    """

    title: str
    use: PageUse

    def to_dict(self) -> dict[str, Any]:
        """What ``homenode picture --json`` prints: a list of fills by node for each page."""
        use = self.use
        pages = zip(
            use.page_address.tolist(),
            use.page_home.tolist(),
            (use.objects[number] for number in use.page_object),
            use.fills().tolist(),
            strict=True,
        )
        rows = [
            {"address": f"{address:#x}", "home": home, "object": name, "fills": fills}
            for address, home, name, fills in pages
        ]
        return {"title": self.title, "page_bytes": use.page_bytes, "pages": rows}

    def svg(self) -> str:
        """The picture as an SVG file."""
        return self.use.svg(self.title)


def pages(trace: str, given: dict[str, Any]) -> PagePicture:
    """Simulates with the options of the command line, showing progress.

    Raises:
        ConfigError: when several machines, protocols or homes were given, a machine without a
            directory, or an option of pictures over Time.
    """
    known = options_of("directory")
    asked = {name: value for name, value in given.items() if name != "title"}
    for name, value in asked.items():
        if name not in known or name == "block_size":
            raise ConfigError(f"--{name.replace('_', '-')} is for pictures without --machine")
        if isinstance(value, list) and len(value) > 1:
            raise ConfigError(f"{known[name].flag} {','.join(value)}: a picture is of one")
    for machine in asked.get("machines", ()):
        if _core.engine_of([machine]) not in engines_with("homes"):
            raise ConfigError(
                f"--machine {machine}: a picture of pages is of a machine with a directory, such "
                f"as {_MACHINE}; without --machine the picture shows who references what when"
            )
    chosen = {"machines": [_MACHINE], "homes": [_HOME], **asked}
    with Progress("simulating") as progress:
        result = homenode.simulate(trace, uses=True, progress=progress, **chosen)
    row = result.rows[0]
    where = f"{row['machine']}, {row['protocol']}, {row['home']} homes"
    title = given.get("title") or f"{row['trace']} on {where}"
    return PagePicture(title, result.uses[0])
