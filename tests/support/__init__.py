"""Helpers for tests: outcomes, traces, mixes and a browser."""
