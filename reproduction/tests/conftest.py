"""Fixtures shared with the tests of homenode itself: a small trace, and the command line."""

from support.command import Command, Outcome, homenode, program
from support.traces import trace

__all__ = ["Command", "Outcome", "homenode", "program", "trace"]
