//! The versions of the `.hnt` file. Each has its own file here and stays readable for ever.

pub(crate) mod v1;
