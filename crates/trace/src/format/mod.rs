//! The versions of the `.hnt` file, one file each. Old versions stay readable.

pub(crate) mod v1;
