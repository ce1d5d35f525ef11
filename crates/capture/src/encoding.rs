//! A thread that encodes recorded items while the recorder reads the next ones.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use homenode_base::Access;
use homenode_trace::{Event, TraceError, TraceWriter};

use crate::item::FlaggedRecord;

/// References handed over together.
pub const PORTION: usize = 1 << 12;
/// Most portions that wait to be encoded; with as many the recorder waits.
const PORTIONS_MAX: usize = 16;

/// Consecutive items.
#[derive(Debug, Default)]
struct ItemPortion {
    /// Plain references, nearly all items.
    records: Vec<FlaggedRecord>,
    /// Other items, each with the number of records before it.
    others: Vec<(usize, OtherItem)>,
}

/// An item that does not fit into a record.
#[derive(Debug)]
enum OtherItem {
    Access(Access),
    Event(Event),
}

impl ItemPortion {
    fn is_full(&self) -> bool {
        self.records.len() >= PORTION || self.others.len() >= PORTION
    }

    fn add(&mut self, other: OtherItem) {
        self.others.push((self.records.len(), other));
    }

    /// Writes all items, and empties the portion.
    fn write(&mut self, writer: &mut TraceWriter) -> Result<(), TraceError> {
        let mut from = 0;
        for (until, other) in self.others.drain(..) {
            writer.push_all(&self.records[from..until])?;
            match other {
                OtherItem::Access(access) => writer.push(&access)?,
                OtherItem::Event(event) => writer.event(event)?,
            }
            from = until;
        }
        writer.push_all(&self.records[from..])?;
        self.records.clear();
        Ok(())
    }
}

/// A trace writer on a thread of its own. The trace is the same as without the thread.
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

    /// Adds a reference. Returns `false` if the writer is known to have failed.
    #[inline(always)]
    pub fn push(&mut self, access: Access) -> bool {
        self.portion.add(OtherItem::Access(access));
        !self.portion.is_full() || self.hand_over()
    }

    /// Adds references, at most about [`PORTION`]. Returns `false` if the writer is known to have
    /// failed.
    #[inline(always)]
    pub fn push_all(&mut self, records: impl Iterator<Item = FlaggedRecord>) -> bool {
        self.portion.records.extend(records);
        !self.portion.is_full() || self.hand_over()
    }

    /// Adds an event. Returns `false` if the writer is known to have failed.
    pub fn event(&mut self, event: Event) -> bool {
        self.portion.add(OtherItem::Event(event));
        !self.portion.is_full() || self.hand_over()
    }

    fn hand_over(&mut self) -> bool {
        let next = self.empty.try_recv().unwrap_or_default();
        self.full.send(std::mem::replace(&mut self.portion, next)).is_ok()
    }

    /// Encodes the remaining items, and returns the writer.
    ///
    /// # Errors
    /// The error of the writer, now or before.
    pub fn finish(mut self) -> Result<TraceWriter, TraceError> {
        // If the thread has ended, `join` returns its error.
        let _ = self.hand_over();
        drop(self.full);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Encodes portions until the sender is dropped or the writer fails.
fn encode(
    mut writer: TraceWriter,
    portions: &Receiver<ItemPortion>,
    back: &Sender<ItemPortion>,
) -> Result<TraceWriter, TraceError> {
    for mut portion in portions {
        portion.write(&mut writer)?;
        // Fails when the recording is over, and the memory is not reused.
        let _ = back.send(portion);
    }
    Ok(writer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{SIZE_SHIFT, SYNC_BIT, THREAD_SHIFT};
    use homenode_base::{AccessKind, Flags};
    use homenode_trace::{Columns, EventKind, Metadata, WriterOptions};

    fn access(number: u64) -> Access {
        let thread = u16::try_from(number / 100 % 4).unwrap();
        let private = Flags(u8::from(number.is_multiple_of(5)) * Flags::PRIVATE.0);
        Access {
            flags: Flags::SYNC.union(private),
            pc: 16 * (number % 9),
            ..Access::new(thread, AccessKind::Read, number * 24 % 70_000, 8)
        }
    }

    fn record(number: u64) -> FlaggedRecord {
        let Access { thread, addr, pc, flags, .. } = access(number);
        let words =
            [addr | 8 << SIZE_SHIFT | 1 << SYNC_BIT, pc | u64::from(thread) << THREAD_SHIFT];
        FlaggedRecord::new(words, flags.contains(Flags::PRIVATE))
    }

    fn event(number: u64) -> Event {
        let thread = u16::try_from(number % 4).unwrap();
        Event { thread, what: EventKind::Marker { text: format!("{number}") } }
    }

    /// Events at the beginning, at the end, at the ends of portions, and consecutive ones.
    fn has_events(number: u64) -> bool {
        number.is_multiple_of(1000) || number.is_multiple_of(PORTION as u64) || number > 99_990
    }

    #[test]
    fn the_trace_is_the_same_as_without_the_thread() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["direct.hnt", "thread.hnt"].map(|name| folder.path().join(name));
        let columns = Columns { pc: true, flags: true, ..Columns::default() };
        let options = WriterOptions { columns, ..WriterOptions::default() };
        let writer = |at: usize| TraceWriter::create(&paths[at], options).unwrap();
        let (mut direct, mut thread) = (writer(0), EncodingThread::new(writer(1)));
        for number in 0..100_000 {
            for again in 0..if has_events(number) { 3 } else { 0 } {
                direct.event(event(number + again)).unwrap();
                assert!(thread.event(event(number + again)));
            }
            direct.push(&access(number)).unwrap();
            // Some have a gap or process that a record cannot hold.
            assert!(match number % 7 {
                0 => thread.push(access(number)),
                _ => thread.push_all(std::iter::once(record(number))),
            });
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
        // A reference that no trace can hold.
        thread.push(Access { size: 0, ..access(0) });
        let goes_on = (0..100 * PORTION as u64).all(|number| thread.push(access(number)));
        assert!(!goes_on, "it is known before the end");
        assert!(thread.finish().is_err_and(|error| error.to_string().contains("size")));
    }
}
