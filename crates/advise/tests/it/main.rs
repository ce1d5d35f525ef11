//! Integration tests of the advice on data layout.

mod proposals;
