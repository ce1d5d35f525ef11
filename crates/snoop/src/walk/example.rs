//! The examples to walk through: one for each protocol, and one to compare protocols.

use crate::protocol::{Example, TABLE};

/// The example that compares protocols, on any machine.
pub const TOUR: Example = Example {
    name: "tour",
    summary: "Four ways to share",
    about: "First two processors write their own words of a block, then a word migrates, then \
            one processor writes what another one reads, and at last a process moves with its \
            private block b, and back.",
    protocol: None,
    text: "0 W a0; 1 W a1; 0 W a0; 1 W a1; 2 R a0; 2 W a0; 0 R a0; 0 W a0; 1 R a0; 0 W a0; \
           1 R a0; 0 W a0; 1 R a0; 0 W b0 p; 1 R b0 p; 1 W b0 p; 2 R b0 p; 2 W b0 p; 0 R b0 p",
};

/// Every example; the last one is shown when protocols are compared.
pub fn examples() -> impl Iterator<Item = &'static Example> {
    TABLE.iter().map(|entry| &entry.example).chain(std::iter::once(&TOUR))
}

/// The example for some protocols: a single protocol's own, or the one to compare several.
#[must_use]
pub fn example(protocols: &[&str]) -> &'static Example {
    let own = |example: &&Example| {
        example.protocol.is_some_and(|own| protocols.iter().all(|name| *name == own))
    };
    examples().find(own).unwrap_or(&TOUR)
}
