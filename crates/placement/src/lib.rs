//! The placement engine: histories of blocks and the on-line policies that walk them.
