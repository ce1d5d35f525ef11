//! The TLBs and page sizes of a study, checked before the trace is read.

use homenode_base::BlockSize;
use homenode_tlb::{TlbSetup, TlbSpec};

use super::config::TlbConfig;
use crate::error::{SimResult, check_given, config_error};
use crate::pass::{TraceSource, check_threads, processors};
use crate::placement::MatrixPlan;
use crate::references::data;

/// Limit, in bytes, of the TLBs of all processors together.
const MEMORY_MAX_BYTES: u64 = 1 << 30;

pub(super) struct TlbPlan {
    pub(super) specs: Vec<TlbSpec>,
    pub(super) setup: TlbSetup,
}

impl TlbPlan {
    pub(super) fn new(config: &TlbConfig, trace: &dyn TraceSource) -> SimResult<Self> {
        let specs = TlbSpec::parse_list(&config.tlbs)?;
        check_given(&[("TLB", specs.len()), ("page size", config.page_sizes.len())])?;
        check_threads(config.threads)?;
        let sizes = config.page_sizes.iter().map(|&bytes| BlockSize::new(bytes));
        let setup = TlbSetup {
            tlbs: specs.iter().map(|spec| spec.geometry).collect(),
            page_sizes: sizes.collect::<Result<_, _>>()?,
            processors: processors(config.processors, trace)?,
            filter: data(config.private.into(), config.sync),
        };
        let bytes = setup.bytes_per_processor().saturating_mul(u64::from(setup.processors));
        if bytes > MEMORY_MAX_BYTES {
            return Err(config_error(
                "the TLBs of all processors together take more than 1 GiB: choose fewer or smaller \
                 TLBs (--tlb), or fewer page sizes (--page-size)",
            ));
        }
        if let Some(correction) = &config.correct {
            // An invalid machine or policy is found before the pass over the trace.
            MatrixPlan::new(&config.simulation(correction), trace)?;
        }
        Ok(Self { specs, setup })
    }
}
