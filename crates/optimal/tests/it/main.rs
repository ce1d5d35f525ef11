//! Integration tests of the optimum.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod certificate;
mod curve;
mod every_price;
mod machines;
mod optimum;
mod properties;
mod support;
