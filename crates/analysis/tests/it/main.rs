//! Integration tests of the analysis.

mod picture;
mod sharing;
mod worst;
