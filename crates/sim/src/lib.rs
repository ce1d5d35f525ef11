//! The registry of engines, and run(config, trace) -> outcome.
