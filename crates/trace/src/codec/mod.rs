//! How the rows of one chunk become bytes, and back.

mod columns;
mod event;
mod stream;

pub(crate) use columns::{decode, encode};
