//! The report of the transform that gives recycled page frames to one use each.

use serde::Serialize;

/// What happened to the page frames of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FrameReport {
    /// Frames that the trace references, without the kernel's data of each processor.
    pub frames: u64,
    /// Frames of which a process reuses memory of another one.
    pub recycled_frames: u64,
    /// Frames that the trace did not have.
    pub new_frames: u64,
    /// References and fetches of the trace.
    pub references: u64,
    /// References to a frame other than the recorded one.
    pub moved_references: u64,
    /// Writes to recorded frames that several processes reference.
    pub writes: NextOfWrites,
}

/// Writes by what happens next to the word of four bytes that contains their first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NextOfWrites {
    /// Another process reads it.
    pub read_by_another: u64,
    /// Another process writes it: the value was for no other process.
    pub overwritten_by_another: u64,
    /// The process itself reads or writes it.
    pub own: u64,
    /// Nothing.
    pub none: u64,
}
