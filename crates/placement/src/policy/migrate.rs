//! Migrate on every write, replicate on every read: what machines without remote reference do.

use super::ace::Ace;
use super::set_policy::SetPolicy;
use super::{Entry, RunsOn};

/// Source: Bolosky §6.1.1: CC and DSM "always migrate data on a write and replicate them on a
/// read". Where there is global memory a replication also fills it, as under ACE: the policy is
/// ACE without a limit.
pub const ENTRY: Entry = Entry {
    name: "migrate",
    summary: "migrate on every write, replicate on every read",
    source: "Bolosky 1993, section 6.1.1",
    params: &[],
    tested_with: &[],
    needs_global: false,
    needs_prices: false,
    assigns_homes: false,
    runs_on: RunsOn::Placement,
    build: |setup, _| {
        Ok(Ace { limit: u64::MAX, global: setup.global }.for_processors(setup.processors))
    },
};
