//! The homenode._core extension module: conversions only.
