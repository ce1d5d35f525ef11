//! Progress of long operations.

use std::ops::ControlFlow;

/// Called with the work done (rows or bytes) and the total if known; `Break` cancels the operation.
pub type TraceProgress<'a> = dyn FnMut(u64, Option<u64>) -> ControlFlow<()> + 'a;
