//! A timed simulation, whatever its memory system.

use homenode_base::ReferenceFilter;
use homenode_machine::KernelModel;
use homenode_trace::ProcessorAreas;

use crate::clock::{Clock, LiveClock};
use crate::processor::MemorySystem;
use crate::streams::ThreadStreams;
use crate::time::ClockTime;

/// A memory system with a result.
pub trait TimedMemory: MemorySystem {
    /// Counts and times.
    type Result;

    /// The result, when everything has completed.
    fn result(&mut self, time: ClockTime) -> Self::Result;

    /// An error of the last event, which no later event has reported. By default there is none.
    fn take_error(&mut self) -> Option<Self::Error> {
        None
    }
}

/// A [`Clock`] over any memory system with this result. Dispatch happens once for each portion of
/// the streams, not for each reference.
pub trait TimedSimulation<R, E>: Send {
    /// See [`Clock::set_areas`].
    fn set_areas(&mut self, areas: &ProcessorAreas);

    /// See [`Clock::set_kernel`].
    fn set_kernel(&mut self, model: &KernelModel, filter: ReferenceFilter);

    /// Adds operations of some processes, and simulates as far as they allow; see [`Clock::push`].
    ///
    /// # Errors
    /// What the memory system returns.
    fn push(&mut self, streams: &ThreadStreams) -> Result<(), E>;

    /// The interface of a live front end.
    fn live(&mut self) -> &mut dyn LiveClock<E>;

    /// Simulates the remaining operations.
    ///
    /// # Errors
    /// What the memory system returns.
    fn finish(self: Box<Self>) -> Result<R, E>;
}

impl<M> TimedSimulation<M::Result, M::Error> for Clock<M>
where
    M: TimedMemory<Access: Send, Hit: Send, Event: Send> + Send,
{
    fn set_areas(&mut self, areas: &ProcessorAreas) {
        Self::set_areas(self, areas);
    }

    fn set_kernel(&mut self, model: &KernelModel, filter: ReferenceFilter) {
        Self::set_kernel(self, model, filter);
    }

    fn push(&mut self, streams: &ThreadStreams) -> Result<(), M::Error> {
        Self::push(self, streams)
    }

    fn live(&mut self) -> &mut dyn LiveClock<M::Error> {
        self
    }

    fn finish(self: Box<Self>) -> Result<M::Result, M::Error> {
        let (mut memory, time) = Self::finish(*self)?;
        match memory.take_error() {
            Some(error) => Err(error),
            None => Ok(memory.result(time)),
        }
    }
}
