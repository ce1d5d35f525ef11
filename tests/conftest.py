"""What the tests share: a small trace, and the command line."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

from support.command import Outcome, homenode, program
from support.traces import trace

__all__ = ["Outcome", "homenode", "program", "trace"]

# Shells tell what runs in the background to ignore interrupts, and programs inherit that: tests
# that interrupt one must not depend on where they run.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No limit on the time of an example or of making one: a slow machine is no failure.
settings.register_profile(
    "untimed",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("untimed")
