"""Fixtures for all tests: a small trace, and the command line."""

import signal

from hypothesis import HealthCheck, settings

from support.command import Command, Outcome, homenode, program
from support.traces import trace

__all__ = ["Command", "Outcome", "homenode", "program", "trace"]

# Shells start background commands with interrupts ignored, and programs inherit that: tests that
# interrupt a program must not depend on where they run.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No time limit for examples or for generating them: a slow machine is not a failure.
settings.register_profile(
    "untimed",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("untimed")
