//! Machine models: prices of references and block moves, read from machines/*.toml.
