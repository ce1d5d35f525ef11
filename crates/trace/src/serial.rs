//! The serial start of a trace: references of the first thread before any other thread starts.

use homenode_base::AccessKind;

use crate::error::TraceError;
use crate::model::{Batch, Want};
use crate::reader::TraceReader;
use crate::turns::ThreadTurn;

impl TraceReader {
    /// Data references before the first one by a second thread; `None` if there is no second
    /// thread.
    ///
    /// Cost: the index suffices for chunks with one thread; usually one chunk is decoded.
    ///
    /// # Errors
    /// When a chunk is damaged.
    pub fn serial_start(&self) -> Result<Option<u64>, TraceError> {
        let fetch = AccessKind::Fetch.code();
        let mut first = None;
        let mut batch = Batch::default();
        for (index, chunk) in self.chunks().iter().enumerate() {
            let alone = |&(thread, _): &(u16, u32)| first.is_none_or(|first| first == thread);
            if chunk.references == 0
                || (chunk.threads.len() == 1 && chunk.threads.iter().all(alone))
            {
                if chunk.references > 0 {
                    first = Some(chunk.threads[0].0);
                }
                continue;
            }
            self.read_chunk(index, Want::default(), &mut batch)?;
            let mut time = chunk.first_time;
            for ThreadTurn { thread, rows } in batch.turns.iter() {
                let data = batch.kind[rows].iter().filter(|&&kind| kind != fetch).count() as u64;
                if data > 0 && *first.get_or_insert(thread) != thread {
                    return Ok(Some(time));
                }
                time += data;
            }
        }
        Ok(None)
    }
}
