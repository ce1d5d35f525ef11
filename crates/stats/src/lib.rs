//! Counters and descriptive statistics shared by the engines.
