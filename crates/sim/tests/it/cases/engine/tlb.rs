//! Translation lookaside buffers, with the case's blocks as pages.

use std::collections::BTreeSet;

use homenode_sim::{TlbConfig, tlb_misses, tlb_rows};
use homenode_trace::TraceReader;
use serde_json::{Value, json};

use super::{Engine, configured, laws, quietly};
use crate::cases::census::Counted;
use crate::cases::corpus::Case;

pub const ENGINE: Engine = Engine { name: "tlb", cannot: |_| None, run };

fn run(case: &Case, trace: &TraceReader, with: &Value) -> Result<Vec<Value>, String> {
    let mut tlbs: Vec<&str> = tlb_rows().iter().map(|row| row.name).collect();
    tlbs.push(ENDLESS);
    let base = json!({
        "tlbs": tlbs, "page_sizes": [case.machine.block_size], "processors": case.processors(),
        "threads": 1,
    });
    let config: TlbConfig = configured(base, with)?;
    let found = quietly(|progress| tlb_misses(&config, trace, progress))?;
    let counted = Counted::asked(&config, false)?;
    let one = |outcome: &homenode_sim::TlbOutcome| {
        let value = serde_json::to_value(outcome).map_err(|e| e.to_string())?;
        let touched = counted.touched(case, outcome.page_size, outcome.processors);
        let pages: BTreeSet<(u16, u64)> = touched.iter().map(|&(p, page, _)| (p, page)).collect();
        let (first, lookups) = (pages.len() as u64, touched.len() as u64);
        // Paired entries look up two pages at once.
        let paired = outcome.tlb.contains("r4000") || outcome.tlb.contains("paired=yes");
        laws(
            &value,
            &[
                ("every reference counts once", outcome.references == counted.references(case)),
                ("every page touched is looked up", paired || outcome.lookups == lookups),
                ("lookups miss at most once each", outcome.misses <= outcome.lookups),
                ("every page misses at first", paired || outcome.misses >= first),
                (
                    "with room for every page only the first reference misses",
                    outcome.tlb != ENDLESS || outcome.misses == first,
                ),
            ],
        )?;
        Ok(value)
    };
    found.outcomes.iter().map(one).collect()
}

/// More entries than the pages of any case.
const ENDLESS: &str = "entries=4096";
