"""The paper's workloads made from its own statistics, as a second column of the ledger.

A sixteenth of the paper's references and blocks, on machines whose caches and time slices are a
sixteenth as large.
"""

from dataclasses import replace
from pathlib import Path

from homenode.engines.servers import servers
from homenode_studies.studies.beside import Beside
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.entry import Products
from homenode_studies.studies.foglia.products import products
from homenode_studies.studies.foglia.runs import Machine
from homenode_studies.studies.forms import AS_RECORDED

SCALE = 16
_FILE = Path(__file__).with_name(f"scaled-{SCALE}.toml")
MACHINE = Machine(_FILE.stem, str(_FILE), 1, scale=SCALE)


def made(context: StudyContext) -> StudyContext:
    """The same programs, with traces made from the statistics of the paper's tables."""
    for program in context.programs:
        if program.name not in context.made:
            with context.watch(f"making {program.name} from statistics") as step:
                trace = servers(f"foglia-{program.mix}", scale=SCALE, progress=step)
            context.made[program.name] = trace
    return replace(context, form=AS_RECORDED, traces={}, _opened=dict(context.made))


def experiments(context: StudyContext) -> Products:
    """Simulates every configuration of the paper on them."""
    return products(made(context), lambda _: MACHINE)


BESIDE = Beside(
    "from statistics",
    "the three workloads as homenode synthetic servers makes them from tables 1 to 3 of the paper "
    f"(foglia-ec, foglia-db, foglia-web, --scale {SCALE}), on machines whose caches and time "
    f"slices are divided by {SCALE}, with one seed; what the tables leave open is not fitted",
    experiments,
    frozenset({"4"}),
)
