"""Traces: the file, other formats, and traces made from traces."""

from homenode.trace.trace import RecordOptions, Trace

__all__ = ["RecordOptions", "Trace"]
