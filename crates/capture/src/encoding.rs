//! A thread that encodes what is recorded, while the recorder reads what comes next.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use homenode_base::Access;
use homenode_trace::{Event, TraceError, TraceWriter};

/// References that are handed over together.
pub const PORTION: usize = 1 << 12;
/// Portions that wait to be encoded: the recorder waits when there are so many.
const PORTIONS_MAX: usize = 16;

/// Items in their order.
#[derive(Debug, Default)]
struct ItemPortion {
    accesses: Vec<Access>,
    /// Events, and how many of the accesses come before each.
    events: Vec<(usize, Event)>,
}

impl ItemPortion {
    fn is_full(&self) -> bool {
        self.accesses.len() >= PORTION || self.events.len() >= PORTION
    }

    /// Writes all items, and is empty again.
    fn write(&mut self, writer: &mut TraceWriter) -> Result<(), TraceError> {
        let mut from = 0;
        for (until, event) in self.events.drain(..) {
            writer.push_all(&self.accesses[from..until])?;
            writer.event(event)?;
            from = until;
        }
        writer.push_all(&self.accesses[from..])?;
        self.accesses.clear();
        Ok(())
    }
}

/// A trace writer on a thread of its own: same items, same trace.
#[derive(Debug)]
pub struct EncodingThread {
    portion: ItemPortion,
    full: SyncSender<ItemPortion>,
    empty: Receiver<ItemPortion>,
    thread: JoinHandle<Result<TraceWriter, TraceError>>,
}

impl EncodingThread {
    /// Starts the thread.
    #[must_use]
    pub fn new(writer: TraceWriter) -> Self {
        let (full, portions) = sync_channel(PORTIONS_MAX);
        let (back, empty) = channel();
        let thread = std::thread::spawn(move || encode(writer, &portions, &back));
        Self { portion: ItemPortion::default(), full, empty, thread }
    }

    /// Adds a reference. Returns whether the writer can go on, as far as is known.
    #[inline(always)]
    pub fn push(&mut self, access: Access) -> bool {
        self.portion.accesses.push(access);
        !self.portion.is_full() || self.hand_over()
    }

    /// Adds references, not many more than are handed over together. Returns whether the writer can
    /// go on, as far as is known.
    #[inline(always)]
    pub fn push_all(&mut self, accesses: impl Iterator<Item = Access>) -> bool {
        self.portion.accesses.extend(accesses);
        !self.portion.is_full() || self.hand_over()
    }

    /// Adds an event. Returns whether the writer can go on, as far as is known.
    pub fn event(&mut self, event: Event) -> bool {
        self.portion.events.push((self.portion.accesses.len(), event));
        !self.portion.is_full() || self.hand_over()
    }

    fn hand_over(&mut self) -> bool {
        let next = self.empty.try_recv().unwrap_or_default();
        self.full.send(std::mem::replace(&mut self.portion, next)).is_ok()
    }

    /// The writer, when all items are encoded.
    ///
    /// # Errors
    /// The error of the writer, now or before.
    pub fn finish(mut self) -> Result<TraceWriter, TraceError> {
        // If the thread has ended, it says why.
        let _ = self.hand_over();
        drop(self.full);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Encodes portions until no more can come, or the writer fails.
fn encode(
    mut writer: TraceWriter,
    portions: &Receiver<ItemPortion>,
    back: &Sender<ItemPortion>,
) -> Result<TraceWriter, TraceError> {
    for mut portion in portions {
        portion.write(&mut writer)?;
        // Nobody takes the memory back when the recording is over.
        let _ = back.send(portion);
    }
    Ok(writer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_base::AccessKind;
    use homenode_trace::{EventKind, Metadata, WriterOptions};

    fn access(number: u64) -> Access {
        let thread = u16::try_from(number / 100 % 4).unwrap();
        Access::new(thread, AccessKind::Write, number * 24 % 70_000, 8)
    }

    fn event(number: u64) -> Event {
        let thread = u16::try_from(number % 4).unwrap();
        Event { thread, what: EventKind::Marker { text: format!("{number}") } }
    }

    /// Events at the beginning, at the end, at the ends of portions, many in a row.
    fn has_events(number: u64) -> bool {
        number.is_multiple_of(1000) || number.is_multiple_of(PORTION as u64) || number > 99_990
    }

    #[test]
    fn the_trace_is_the_same_as_without_the_thread() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["direct.hnt", "thread.hnt"].map(|name| folder.path().join(name));
        let writer = |at: usize| TraceWriter::create(&paths[at], WriterOptions::default()).unwrap();
        let (mut direct, mut thread) = (writer(0), EncodingThread::new(writer(1)));
        for number in 0..100_000 {
            for again in 0..if has_events(number) { 3 } else { 0 } {
                direct.event(event(number + again)).unwrap();
                assert!(thread.event(event(number + again)));
            }
            direct.push(&access(number)).unwrap();
            assert!(thread.push(access(number)));
        }
        direct.finish(Metadata::default()).unwrap();
        thread.finish().unwrap().finish(Metadata::default()).unwrap();
        let [direct, thread] = paths.map(|path| std::fs::read(path).unwrap());
        assert!(direct == thread, "{} and {} bytes", direct.len(), thread.len());
    }

    #[test]
    fn an_error_of_the_writer_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.hnt");
        let writer = TraceWriter::create(path, WriterOptions::default()).unwrap();
        let mut thread = EncodingThread::new(writer);
        // No trace can hold it.
        thread.push(Access { size: 0, ..access(0) });
        let goes_on = (0..100 * PORTION as u64).all(|number| thread.push(access(number)));
        assert!(!goes_on, "it is known before the end");
        assert!(thread.finish().is_err_and(|error| error.to_string().contains("size")));
    }
}
