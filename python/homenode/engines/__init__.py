"""The engines: one file for each, with its function, its options and its result."""
