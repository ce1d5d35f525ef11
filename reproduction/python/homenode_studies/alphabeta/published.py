"""Tables of times: CSV files, and the thesis's tables 3.1 and 3.2 checked row by row."""

import csv
import io
import os
import statistics
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from homenode.errors import ConfigError
from homenode_studies.alphabeta.model import RATIO, AlphaBeta, alpha_beta, ranges

FOLDER = Path(__file__).resolve().parent
"""Where the published tables are."""

_TIMES = ("T_global", "T_numa", "T_local")
_SYSTEM = ("S_numa", "S_global")
_RESULTS = ("alpha", "beta", "gamma")
# A device or a mistaken name must not fill the memory.
_CHARACTERS_MAX = 1 << 24


def read_csv(path: str | os.PathLike[str], ratio: float | None = None) -> list[dict[str, Any]]:
    """Reads times from a CSV file and computes alpha, beta and gamma of each program.

    The columns are program, T_global, T_numa and T_local, in any order; ratio (else `ratio`), and
    S_numa and S_global for the overhead, may follow. Several rows with the same program are
    repetitions. Columns alpha, beta and gamma, if present, are compared with the computed values.

    Returns:
        One dictionary per program: that of `AlphaBeta.describe`, and ``differs``: printed values
        that do not follow from the times, by name.

    Raises:
        ConfigError: when a column is missing or a cell has an invalid value.
        OSError: when the file cannot be read.
    """
    path = Path(path)
    with path.open(encoding="utf-8-sig") as file:
        text = file.read(_CHARACTERS_MAX + 1)
    if len(text) > _CHARACTERS_MAX:
        raise ConfigError(f"{path}: a table of times has at most {_CHARACTERS_MAX:,} characters")
    reader = csv.DictReader(io.StringIO(text))
    names = {name.strip().lower(): name for name in reader.fieldnames or [] if name}
    missing = [name for name in ("program", *_TIMES) if name.lower() not in names]
    if missing:
        raise ConfigError(
            f"{path}: there is no column {', '.join(missing)}; the first line must name the "
            "columns program,T_global,T_numa,T_local and optionally ratio,S_numa,S_global"
        )
    programs: dict[str, list[dict[str, str]]] = {}
    for row in reader:
        cells = {key: (row.get(name) or "").strip() for key, name in names.items()}
        cells["line"] = str(reader.line_num)
        programs.setdefault(cells["program"], []).append(cells)
    if not programs:
        raise ConfigError(f"{path}: there are no rows below the names of the columns")
    return [_row(path, program, rows, ratio) for program, rows in programs.items()]


def table_3_1() -> list[dict[str, Any]]:
    """Table 3.1 of the thesis, every row recomputed; see `read_csv`.

    >>> {row["program"]: list(row["differs"]) for row in table_3_1() if row["differs"]}
    {'matmult': ['beta'], 'e-fft': ['beta']}
    """
    return read_csv(FOLDER / "table-3.1.csv")


def table_3_2() -> list[dict[str, Any]]:
    """Table 3.2 of the thesis: system time of placement, every row recomputed.

    Returns:
        One dictionary per program: the printed columns, ``delta_s`` and ``overhead`` computed from
        the row, and ``differs``: printed values that do not follow from the row or from table 3.1.

    >>> {row["program"]: row["differs"] for row in table_3_2() if row["differs"]}
    {'IMatMult': {'T_numa': '82.1, but 69.0 in table 3.1, which makes it 4.8 %'}}
    """
    text = (FOLDER / "table-3.2.csv").read_text()
    times = {row["program"]: row for row in table_3_1()}
    return [_system_row(row, times) for row in csv.DictReader(io.StringIO(text))]


def _row(
    path: Path, program: str, rows: list[dict[str, str]], ratio: float | None
) -> dict[str, Any]:
    def number(row: dict[str, str], name: str) -> float:
        try:
            return float(row[name.lower()])
        except ValueError:
            raise ConfigError(
                f"{path}, line {row['line']}: {name} is {row[name.lower()]!r}; expected a number"
            ) from None

    first = rows[0]
    own = number(first, "ratio") if first.get("ratio") else ratio or RATIO
    system = None
    if all(first.get(name.lower()) for name in _SYSTEM):
        numa, world = ([number(row, name) for row in rows] for name in _SYSTEM)
        system = (statistics.median(numa), statistics.median(world))
    times = ([number(row, name) for row in rows] for name in _TIMES)
    try:
        found = replace(alpha_beta(*times, ratio=own, system=system), program=program)
    except ConfigError as error:
        raise ConfigError(f"{path}, line {first['line']}: {error}") from None
    return found.describe() | {"differs": _differences(found, first)}


def _differences(found: AlphaBeta, printed: Mapping[str, str]) -> dict[str, str]:
    """Printed values that cannot result from the rounded times by rounding."""
    halves = tuple(_half_unit(printed[name.lower()]) for name in _TIMES)
    exact = (found.t_global, found.t_numa, found.t_local)
    possible = ranges(exact, (halves[0], halves[1], halves[2]), found.ratio)
    differing = {}
    for name in _RESULTS:
        text = printed.get(name, "")
        value = getattr(found, name)
        if not text:
            continue
        if text.lower() == "na" or value is None or name not in possible:
            if (text.lower() == "na") != (value is None):
                differing[name] = f"{text}, but {_shown(value)} follows"
            continue
        half = _half_unit(text)
        low, high = possible[name]
        if not low - half <= float(text) <= high + half:
            slip = abs(float(text) - value) < 3 * half
            differing[name] = f"{text}, but {_shown(value)} follows" + (
                " (last digit)" if slip else ""
            )
    return differing


def _system_row(printed: dict[str, str], times: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    numa, world, user = (float(printed[name]) for name in ("S_numa", "S_global", "T_numa"))
    delta = numa - world
    overhead = max(delta, 0.0) / user
    differs = {}
    if printed["delta_S"] != ("na" if delta < 0 else f"{delta:.1f}"):
        differs["delta_S"] = f"{printed['delta_S']}, but {delta:.1f} follows"
    percent = printed["percent"]
    if abs(float(percent) - 100 * overhead) > _half_unit(percent) + 1e-9:
        differs["percent"] = f"{percent}, but {100 * overhead:.1f} follows"
    in_3_1 = times[printed["in_table_3.1"]]["t_numa"]
    if in_3_1 != user:
        percent = f"{100 * max(delta, 0.0) / in_3_1:.1f} %"
        differs["T_numa"] = f"{user}, but {in_3_1} in table 3.1, which makes it {percent}"
    return {**printed, "delta_s": delta, "overhead": overhead, "differs": differs}


def _half_unit(text: str) -> float:
    """Half of the last digit's unit.

    >>> _half_unit("67.4"), _half_unit("1388"), _half_unit(".26")
    (0.05, 0.5, 0.005)
    """
    decimals = len(text.partition(".")[2])
    return float(f"0.5e-{decimals}")


def _shown(value: float | None) -> str:
    return "na" if value is None else f"{value:.2f}"
