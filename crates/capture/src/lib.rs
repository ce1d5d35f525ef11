//! The recorder: receives the references of a running program and writes the trace.
