//! Update and invalidate policies on the machine of Markatos and Chronaki.

use homenode_machine::PriceModel;
use homenode_trace::TraceReader;
use serde_json::Value;

use super::{Engine, placement};
use crate::cases::corpus::Case;

pub const ENGINE: Engine = Engine { name: "page-coherence", cannot: |_| None, run };

fn run(case: &Case, trace: &TraceReader, with: &Value) -> Result<Vec<Value>, String> {
    let policies = placement::policies(PriceModel::PageCoherence, false);
    let base = placement::config(case, &["markatos"], &policies);
    placement::outcomes(case, trace, base, with)
}
