//! Integration tests of the placement engine.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod coherence;
mod histories;
mod oracle {
    pub mod coherence;
    pub mod policy;
}
mod policies;
mod published;
mod support;
