//! The registry of engines, and [`run`]`(config, trace)`.
//!
//! Each engine or study is one module with the same steps: the user's configuration (`config`), the
//! checked plan (`plan`), the simulation (`run`) and the reported results (`outcome`). Passes over
//! the trace, with threads, memory budget and progress, are in `pass`.

mod advise;
mod bus;
mod caches;
mod directory;
mod engine;
mod engines;
mod error;
mod explain;
mod footprint;
mod layout;
mod lines;
mod live;
mod machines;
mod optimal;
mod options;
mod page_use;
mod pass;
mod picture;
mod placement;
mod pmap;
mod references;
mod results;
mod schema;
mod sharing;
mod timed;
mod tlb;

pub use advise::{AdviceConfig, AdvicePoint, AdviceProvenance, AdviceReport, advise};
pub use bus::{
    BusConfig, BusOutcome, BusSimulation, check_protocols, critical_point, protocol_rows,
    simulate_bus,
};
pub use directory::{check_directory_protocols, directory_protocol_rows};
pub use engine::{Column, Engine, EngineResult};
pub use engines::{ENGINES, engine_named, engine_of};
pub use error::{SimError, SimResult};
pub use explain::{
    DirectoryExplanation, ExplainConfig, ExplainedProtocol, Explanation, ListWalk,
    PagedExplanation, ProtocolExplanation, explain, explain_examples,
};
pub use footprint::{FootprintConfig, footprint};
pub use homenode_directory::home::TABLE as HOMES;
pub use homenode_directory::{HomeLoad, PROXIES, REPLICATIONS};
pub use homenode_machine::MachineKind;
pub use homenode_pmap::policy::TABLE as PAGE_POLICIES;
pub use lines::{LineConfig, LineFinding, line_waits};
pub use live::{LiveEnd, LiveParts, LiveRun, RunConfig, RunError, run_program};
pub use machines::{machine_kinds, machine_rows};
pub use optimal::{
    OptimalConfig, OptimalReport, OptimalRow, PlacementFormat, PlacementOutput, optimal,
};
pub use options::{study_names, study_schema};
pub use page_use::PageUseColumns;
pub use pass::{CacheFilterRecord, Progress, TraceSource};
pub use picture::{PictureConfig, sharing_picture};
pub use placement::{
    POLICIES, PlacementOutcome, PlacementSimulation, PolicyRow, SimConfig, WorstBlocks,
    policy_rows, run, run_policies, worst_blocks,
};
pub use pmap::{PmapConfig, PmapReport, pmap, pmap_actions};
pub use references::{Inclusion, PrivateReferences};
pub use sharing::{SharingConfig, SharingReport, sharing};
pub use tlb::{McprCorrection, TlbConfig, TlbOutcome, TlbReport, tlb_misses, tlb_rows};
