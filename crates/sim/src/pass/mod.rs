//! Passes over a trace: where its references come from, and how they reach the engines.

pub(crate) mod source;
pub(crate) mod windows;
