//! Machines with caches, in simulated time or in the order of the trace. A [`TimedPlan`] has the
//! combinations of one family of machines; one pass over the trace, and one driver of live
//! programs, serve all families.

mod live;
mod order;
mod plan;
mod run;

pub(crate) use live::prepare_run;
pub use order::ReferenceOrder;
pub(crate) use plan::{ClockVariant, LiveTiming, TimedClock, TimedConfig, TimedOptions, TimedPlan};
pub(crate) use run::{in_trace_order, simulate, splitter};
