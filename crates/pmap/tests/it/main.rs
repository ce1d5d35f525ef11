//! Integration tests of the page manager.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod agreement;
mod oracle;
mod support;
