//! Protocols of this family, one file each.

pub(crate) mod sdd;
