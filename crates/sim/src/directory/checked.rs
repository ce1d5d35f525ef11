//! Notes on the reads that `--check` verified.

use homenode_directory::{CoherenceTable, DirectoryProtocol};

use super::config::DirectoryConfig;
use super::outcome::DirectoryOutcome;
use crate::bus::ReferenceOrder;

/// A note for each guarantee that reads were checked against, with the number of checked reads that
/// are counted. A read that violates it ends the run with an error.
pub(super) fn checked_reads(
    config: &DirectoryConfig,
    outcomes: &[DirectoryOutcome],
) -> Vec<String> {
    if !config.check {
        return Vec::new();
    }
    let of_pages = |outcome: &&DirectoryOutcome| {
        DirectoryProtocol::parse(&outcome.protocol)
            .is_ok_and(|protocol| matches!(protocol.table(), CoherenceTable::Pages(_)))
    };
    let (pages, blocks): (Vec<_>, Vec<_>) = outcomes.iter().partition(of_pages);
    let of_blocks = match config.order {
        ReferenceOrder::Trace => "each returned what was written last",
        ReferenceOrder::Clock => {
            "none returned a value older than the last write that all nodes had seen when it was \
             asked for"
        }
    };
    let of_pages = "none returned a value older than a write that acquires and releases put \
                    before it, so a program without data races reads what it would read with one \
                    memory";
    [(blocks, of_blocks), (pages, of_pages)]
        .into_iter()
        .filter_map(|(found, promise)| note(&found, promise))
        .collect()
}

fn note(found: &[&DirectoryOutcome], promise: &str) -> Option<String> {
    let mut protocols: Vec<&str> = found.iter().map(|one| one.protocol.as_str()).collect();
    protocols.dedup();
    let reads: u64 = found.iter().map(|one| one.counts.reads).sum();
    let (runs, protocols) = (found.len(), protocols.join(", "));
    let simulations = if runs == 1 { "simulation" } else { "simulations" };
    (runs > 0).then(|| {
        format!(
            "every read was checked in {runs} {simulations} of {protocols} ({reads} of them \
             counted): {promise}"
        )
    })
}
