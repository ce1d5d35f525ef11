//! The placement engine over a matrix of machines, policies and block sizes.

pub(crate) mod columns;
pub(crate) mod config;
pub(crate) mod outcome;
pub(crate) mod plan;
pub(crate) mod realign;
pub(crate) mod run;
pub(crate) mod worst;
