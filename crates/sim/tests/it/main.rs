//! Integration tests of the registry of engines.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod advise;
mod bus;
mod cases;
mod coherence;
mod docs;
mod engines;
mod explain;
mod explain_pages;
mod filter;
mod made;
mod optimal;
mod pmap;
mod realign;
mod sharing;
mod simulate;
mod tlb;
mod words;
mod worst;
