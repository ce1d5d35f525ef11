//! The ACE page manager: a kernel that treats local memories as a cache of global memory.
//!
//! Source: Bolosky §3.1.3. A reference without a mapping that allows it faults. The fault asks the
//! [policy](policy::CachePolicy) whether the page belongs in local or in global memory; the answer,
//! the page's state and the kind of reference choose one cell of a total [table](mod@table), and
//! the cell says what the kernel does. [`Manager`] runs this over the histories of a trace, page
//! by page, and [`Costs`] turn its counts into kernel time.
//!
//! The policy `ace` of `homenode_placement` is the abstract form of this manager, with a cost model
//! but without mappings and faults. `tests/it/agreement.rs` tests where the two agree.
//!
//! Invariant: after every fault the page's copies and mappings are those that its state allows.
//! This is checked in release builds too.

mod cost;
mod counts;
mod manager;
mod page;
pub mod policy;
pub mod table;

pub use cost::{COSTS, CostError, CostParam, Costs, KernelTime};
pub use counts::{METRICS, PmapCounts};
pub use manager::{Manager, PageOutcome};
pub use page::LogicalPage;
pub use policy::{CachePolicy, CachePolicyError};
pub use table::{FaultKind, Location, OwnerCopy, PageState};
