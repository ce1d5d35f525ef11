"""Colours and dashes of policies and cost parts: the same in every figure."""

# Colours that people with colour-blindness tell apart (Okabe and Ito 2008), in mid tones that read
# on light and dark paper. The optimum is the reference line: it has the colour of the text.
_COLOURS = {
    "optimal": "#6b7280",
    "optimal-no-replication": "#9ca3af",
    "ace": "#0072b2",
    "delay": "#d55e00",
    "platinum": "#009e73",
    "migrate": "#cc79a7",
    "first-touch": "#b8860b",
    "round-robin": "#56a3d9",
    "random": "#8b6fc0",
    "all-global": "#7a5c45",
    "best-static": "#5f9e3f",
    "upt": "#1f6fae",
    "upt.del": "#4f9fd6",
    "inv": "#c85a10",
    "inv.del": "#a9801a",
    "inv.freez": "#129070",
    "inv.freez.del": "#6a9a4a",
    "all-local": "#8a94a0",
    "all-remote": "#8a6a50",
}
_SPARE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56a3d9", "#8b6fc0", "#7a5c45")
PROCESSOR_COLOURS = _SPARE
"""Colours of single processors, as long as there are no more of them."""

_DASHED = frozenset({"optimal", "optimal-no-replication"})

COST_COLOURS = {
    "local": "#a3b1bf",
    "remote": "#d55e00",
    "global": "#8b6fc0",
    "remote_moves": "#0072b2",
    "global_moves": "#56a3d9",
    "replication": "#0072b2",
    "multicast": "#009e73",
    "os": "#b8860b",
}


def colour_of(policy: str) -> str:
    """The colour of a policy; its parameters do not matter.

    >>> colour_of("delay:n=50") == colour_of("delay")
    True
    """
    name = policy.partition(":")[0]
    if name in _COLOURS:
        return _COLOURS[name]
    return _SPARE[sum(name.encode()) % len(_SPARE)]


def dashes_of(policy: str) -> tuple[int, ...]:
    """The dash pattern of a policy's line: optima are dashed, the others solid."""
    if policy.partition(":")[0] in _DASHED:
        return (4, 2) if policy.startswith("optimal-") else (6, 2)
    return (1, 0)
