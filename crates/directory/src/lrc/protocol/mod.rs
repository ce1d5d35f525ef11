//! Protocols of this family, one file each.

pub(crate) mod lrc;
pub(crate) mod lrc_one_trip;
