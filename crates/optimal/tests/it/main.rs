//! Integration tests of the optimum.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod certificate;
mod curve;
mod every_price;
mod machines;
mod move_histogram;
mod optimum;
mod properties;
mod ratio;
mod support;
