"""The second distribution, homenode-studies: the publications' studies and their programs."""

from importlib import import_module
from types import ModuleType

from homenode.errors import ConfigError


def module(name: str) -> ModuleType:
    """Imports a module of ``homenode_studies``.

    Raises:
        ConfigError: when homenode-studies is not installed.
    """
    try:
        return import_module(f"homenode_studies.{name}")
    except ModuleNotFoundError as error:
        if error.name != "homenode_studies":
            raise
        raise ConfigError(
            "study, workloads and alphabeta are in a separate package: in a clone of homenode, "
            "pip install ./reproduction"
        ) from None
