//! Page-coherence policies of Markatos and Chronaki: each a file that ends in its `ENTRY`, all
//! listed in [`TABLE`].
//!
//! They share one automaton, `automaton::Automaton`: update or invalidate, with or without
//! freezing, with or without a hardware counter. `docs/page-coherence.md` says what happens at each
//! event, and where the paper's text and tables differ.

mod all_local;
mod all_remote;
mod automaton;
mod counters;
mod inv;
mod inv_del;
mod inv_freez;
mod inv_freez_del;
mod parameters;
mod upt;
mod upt_del;

use crate::policy::Entry;

/// Every policy of this model, in the order of lists and documentation.
pub const TABLE: &[Entry] = &[
    upt::ENTRY,
    inv::ENTRY,
    inv_freez::ENTRY,
    upt_del::ENTRY,
    inv_del::ENTRY,
    inv_freez_del::ENTRY,
    all_local::ENTRY,
    all_remote::ENTRY,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_file_is_in_the_table() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/coherence");
        let shared = ["mod.rs", "automaton.rs", "counters.rs", "parameters.rs"];
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !shared.contains(&name.as_str()))
            .map(|name| name.trim_end_matches(".rs").to_owned())
            .collect();
        files.sort();
        let mut listed: Vec<String> =
            TABLE.iter().map(|e| e.name.replace(['.', '-'], "_")).collect();
        listed.sort();
        assert_eq!(files, listed);
    }
}
