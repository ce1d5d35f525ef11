//! Machines with links.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod links;
