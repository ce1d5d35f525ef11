//! Policies: each a file that ends in its `ENTRY`, all listed in [`TABLE`].
//!
//! The manager knows only one function of a policy, `cache_policy`, so a policy can be replaced
//! without changing the manager (Bolosky §3.1.3).

mod all_global;
mod limit;
mod limit_writes;

use serde::Serialize;

use crate::table::{FaultKind, Location, PageState};

/// Every policy, in the order of lists and documentation.
pub const TABLE: &[Entry] = &[limit::ENTRY, limit_writes::ENTRY, all_global::ENTRY];

/// The facts about a faulting page that a policy may use.
#[derive(Clone, Copy, Debug)]
pub struct PolicyQuery {
    /// State of the page.
    pub state: PageState,
    /// The least permission that resolves the fault: reading or writing.
    pub access: FaultKind,
    /// Whether another processor holds a copy in its local memory.
    pub held_by_others: bool,
    /// How often the page has been invalidated: faults so far that flushed another processor's
    /// copy.
    pub invalidations: u64,
}

/// A policy: decides whether a page belongs in local or global memory.
pub trait CachePolicy: Send {
    /// The memory the page belongs in. Called once for each fault, before any action.
    fn cache_policy(&mut self, page: &PolicyQuery) -> Location;
}

/// A policy as it is listed. The names of the fields are public.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Its source.
    pub source: &'static str,
    /// Makes an instance from the number of invalidations allowed.
    #[serde(skip)]
    pub build: fn(limit: u64) -> Box<dyn CachePolicy>,
}

/// Why a policy is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no page policy {name:?}: expected one of {known}")]
pub struct CachePolicyError {
    /// The given name.
    pub name: String,
    /// The known names, separated by commas.
    pub known: String,
}

/// The policy of this name.
///
/// # Errors
/// When there is no such policy; the message lists all.
pub fn find(name: &str) -> Result<&'static Entry, CachePolicyError> {
    TABLE.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let known: Vec<&str> = TABLE.iter().map(|entry| entry.name).collect();
        CachePolicyError { name: name.to_owned(), known: known.join(", ") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_is_found_by_its_name() {
        assert!(TABLE.iter().all(|entry| find(entry.name).is_ok()));
        let error = find("lru").err().unwrap();
        assert!(error.to_string().contains("limit, limit-writes, all-global"));
    }
}
