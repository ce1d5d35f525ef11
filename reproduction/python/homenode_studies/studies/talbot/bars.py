"""Times, messages, read responses and queues by program and configuration, ours and the paper's.

Both are looked up alike, so that claims and their rules can be applied to the paper's own numbers
before anything is run. The paper prints all except queues in percent of first touch without proxies
and with the same buffers; for ratios that makes no difference.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from homenode.options.specs import unique
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.tables import Evidence, Missing, Row
from homenode_studies.studies.talbot import ALITE, PAPER
from homenode_studies.studies.talbot.matrix import (
    AS_RECORDED,
    FINITE,
    FIRST,
    INFINITE,
    KINDS,
    NONE,
    ROUND,
    UNCHANGED,
    Setting,
)

TIME, MESSAGES, RESPONSE = "time", "messages", "read response"
QUEUE, REMOTE = "queue", "remote fills"
FIGURES = {
    (TIME, INFINITE): "figure-1.5",
    (MESSAGES, INFINITE): "figure-1.6",
    (RESPONSE, INFINITE): "figure-1.7",
    (TIME, FINITE): "figure-1.8",
    (MESSAGES, FINITE): "figure-1.9",
    (RESPONSE, FINITE): "figure-1.10",
}
TABLE = "table-1.4"
BUFFERS = {INFINITE: "infinite", FINITE: "finite"}
SHORT = {FIRST: "ft", ROUND: "rr"}
NAME = "bars"
"""Name of the rows among the evidence."""
PERCENT = 100
UNCERTAIN = "uncertain"
"""Numbers of a figure that cannot be assigned to a bar are not used for judging."""


class Illegible(Missing):
    """The paper has a number here, but it is not legible in our copy."""


class Bars:
    """Values by program, measure and configuration."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._at: dict[tuple[Any, ...], Any] = {}
        self._programs: list[str] = []
        for row in rows:
            setting = Setting(row["home"], row["proxies"], row["buffers"])
            self._at[row["program"], row["measure"], setting] = row["value"]
            self._programs.append(row["program"])
        self._programs = unique(self._programs)

    def programs(self) -> list[str]:
        """The programs that have a value, in order."""
        return self._programs

    def at(self, program: str, measure: str, setting: Setting) -> float:
        """A value.

        Raises:
            Illegible: when the paper's value is not legible or not printed.
            Missing: when the program or the configuration was not simulated.
        """
        try:
            value = self._at[program, measure, setting]
        except KeyError:
            if program not in self._programs:
                raise Missing(f"needs {program}, which this run does not have") from None
            raise Missing(f"the {measure} of {program} with {setting} was not found") from None
        if value is None:
            raise Illegible(f"the {measure} of {program} is not legible")
        return float(value)

    def ratio(self, program: str, measure: str, one: Setting, other: Setting) -> float:
        """A value over another.

        Raises:
            Missing: when one of them is missing, or the second is 0.
        """
        above, below = self.at(program, measure, one), self.at(program, measure, other)
        if below == 0:
            raise Missing(f"the {measure} of {program} with {other} is 0")
        return above / below

    def relative(self, program: str, measure: str, setting: Setting) -> float:
        """A value over that of first touch without proxies and with the same buffers."""
        return self.ratio(program, measure, setting, Setting(buffers=setting.buffers))

    def each(
        self, value: Callable[[str], float], programs: Iterable[str] | None = None
    ) -> dict[str, float]:
        """A value of some programs, or of all; illegible ones are left out.

        Raises:
            Missing: when one was not simulated, or none remains.
        """
        found = {}
        for program in self.programs() if programs is None else programs:
            try:
                found[program] = value(program)
            except Illegible:
                continue
        if not found:
            raise Illegible("nothing of this is legible")
        return found


def bars(evidence: Evidence) -> Bars:
    """The values among the evidence.

    Raises:
        Missing: when there are none.
    """
    return Bars(evidence.rows(NAME))


def settings_of(buffers: str) -> list[Setting]:
    """The bars of a figure, in its order."""
    return [Setting(home, kind, buffers) for home in SHORT for kind in KINDS[buffers]]


def label(setting: Setting) -> str:
    """A bar's name, as ``ft`` or ``rr + basic``.

    >>> label(Setting()), label(Setting(proxies="basic"))
    ('ft', 'ft + basic')
    """
    short = SHORT[setting.home]
    return short if setting.proxies == NONE else f"{short} + {setting.proxies}"


def column(setting: Setting) -> str:
    """A column of table 1.4.

    >>> column(Setting("round-robin", "basic"))
    'finite basic rr'
    """
    kind = "" if setting.proxies == NONE else f" {setting.proxies}"
    return f"{BUFFERS[setting.buffers]}{kind} {SHORT[setting.home]}"


def messages(row: Row) -> float:
    """Messages of all kinds."""
    return sum(float(count) for name, count in row.items() if name.startswith("messages_"))


def remote_fills(row: Row) -> float:
    """Blocks that came from another node's memory or cache."""
    return float(row["fills"]) - float(row["local_fills"])


VALUES: dict[str, Callable[[Row], float | None]] = {
    TIME: lambda row: row["cycles"],
    MESSAGES: messages,
    RESPONSE: lambda row: row["mean_read_response_cycles"],
    QUEUE: lambda row: row["mean_queue_cycles"],
    REMOTE: remote_fills,
}
"""The measures of a simulated row."""


def of_points(points: Iterable[Row]) -> list[Row]:
    """Our values for the configurations of the paper's figures."""
    return [
        _row(point["program"], measure, _setting(point), value(point))
        for point in points
        if _of_figures(point)
        for measure, value in VALUES.items()
    ]


def of_paper() -> list[Row]:
    """The paper's values: percentages of figures, and queues of table 1.4. None if not legible."""
    return [*_of_paper_figures(), *_of_paper_table(), *_never_printed()]


def paper() -> Evidence:
    """The paper's own numbers as evidence."""
    return Evidence({NAME: of_paper()})


def _of_paper_figures() -> Iterator[Row]:
    known = {said: buffers for buffers, said in BUFFERS.items()}
    for (measure, _), figure in FIGURES.items():
        for row in published(PAPER.name)[figure]:
            setting = Setting(row["home"], row["proxies"], known[row["buffers"]])
            certain = row["legible"] != UNCERTAIN
            yield _row(row["program"], measure, setting, row["printed"] if certain else None)


def _of_paper_table() -> Iterator[Row]:
    for row in published(PAPER.name)[TABLE]:
        for buffers in KINDS:
            for setting in settings_of(buffers):
                yield _row(row["program"], QUEUE, setting, row[column(setting)])


def _never_printed() -> Iterator[Row]:
    for row in published(PAPER.name)[TABLE]:
        for buffers in KINDS:
            for setting in settings_of(buffers):
                yield _row(row["program"], REMOTE, setting, None)


def _row(program: str, measure: str, setting: Setting, value: float | None) -> Row:
    return {
        "program": program,
        "measure": measure,
        "home": setting.home,
        "proxies": setting.proxies,
        "buffers": setting.buffers,
        "value": value,
    }


def _setting(point: Row) -> Setting:
    return Setting(point["home"], point["proxies"], point["buffers"])


def _of_figures(point: Row) -> bool:
    usual = (point["dial"], point["machine"], point["nodes"]) == (UNCHANGED, ALITE, AS_RECORDED)
    return usual and point["buffers"] in KINDS
