//! Data re-alignment as a transform: moves data to pages of its only user, window by window.

use homenode_base::{Access, AccessKind, BlockSize, Flags};
use homenode_trace::{Batch, Columns, Metadata, TraceError, TraceReader, Want};

use crate::entry::{Entry, Transform};
use crate::error::TransformError;
use crate::output::TransformOutput;
use crate::param::TransformParam;
use crate::realign::{AddressMap, WINDOW_MAX, WindowScan, WordMapping};
use crate::report::TransformReport;
use crate::values::TransformValues;

/// The data re-alignment of Markatos and Chronaki, section 3.4, as [`crate::realign`] does it.
///
/// Fetches are not counted and keep their addresses. So do, unless asked for, references to private
/// memory and to synchronisation variables, which a simulation excludes as well: the paper's traces
/// have references to shared memory only.
///
/// A window's words move before its references are made, so the trace is read twice, the first time
/// one window ahead. Memory is proportional to the words of a window, however many uncounted
/// references lie between the counted ones.
pub const ENTRY: Entry = Entry {
    name: "realign",
    summary: "move words used by one thread off pages that several threads share and one writes",
    source: "Markatos and Chronaki, section 3.4",
    params: &[
        TransformParam {
            name: "page-size",
            default: "",
            form: "B",
            doc: "bytes of a page, a power of two from 4; K and M stand for 1024 and its square",
        },
        TransformParam {
            name: "window",
            default: "1000000",
            form: "N",
            doc: "data references in a window",
        },
        TransformParam {
            name: "private",
            default: "exclude",
            form: "exclude|shared",
            doc: "references to private memory do not count and stay, or are treated as all others",
        },
        TransformParam {
            name: "sync",
            default: "exclude",
            form: "exclude|include",
            doc: "references to synchronisation variables do not count and stay, or are treated as \
                  all others",
        },
    ],
    pieces: false,
    several: false,
    build,
};

fn build<'a>(
    values: &TransformValues<'_>,
    traces: &'a [TraceReader],
) -> Result<Box<dyn Transform + 'a>, TransformError> {
    let trace = &traces[0];
    let page = page_size(values)?;
    let window = values.count("window", 1..=WINDOW_MAX)?.unwrap_or(1);
    let left_out = [
        (values.choice("private", &["exclude", "shared"])? == 0, Flags::PRIVATE),
        (values.choice("sync", &["exclude", "include"])? == 0, Flags::SYNC),
    ];
    let mapping = WordMapping::new(&AddressMap::of(trace), page, window).ok_or_else(|| {
        values.error(
            "the trace's addresses leave no room for new pages; keep a part of them with \
             `homenode transform select --address`"
                .to_owned(),
        )
    })?;
    let mapping = mapping.with_origins(trace.metadata());
    let scan = WindowScan::new(window);
    let lookahead = WindowLookahead { trace, chunk: 0, row: 0, batch: Batch::default() };
    Ok(Box::new(Realign { window, mapping, scan, lookahead, left_out, counted: 0, failed: None }))
}

fn page_size(values: &TransformValues<'_>) -> Result<BlockSize, TransformError> {
    let Some(text) = values.text("page-size") else {
        return Err(values.error("give page-size, the bytes of a page".to_owned()));
    };
    let (digits, unit) = match text.strip_suffix(['K', 'k']) {
        Some(digits) => (digits, 1 << 10),
        None => text.strip_suffix(['M', 'm']).map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    bytes.and_then(|bytes| BlockSize::new(bytes).ok()).ok_or_else(|| {
        values.error(format!("page-size={text}: expected a power of two from 4 to 1024M"))
    })
}

struct WindowLookahead<'a> {
    trace: &'a TraceReader,
    /// The chunk after the one in `batch`.
    chunk: usize,
    /// The next row of `batch`.
    row: usize,
    batch: Batch,
}

impl WindowLookahead<'_> {
    fn next(&mut self) -> Result<Option<Access>, TraceError> {
        while self.row == self.batch.len() {
            if self.chunk == self.trace.chunks().len() {
                return Ok(None);
            }
            let columns = Columns { flags: true, ..Columns::default() };
            let want = Want { columns, events: false };
            self.trace.read_chunk(self.chunk, want, &mut self.batch)?;
            (self.chunk, self.row) = (self.chunk + 1, 0);
        }
        self.row += 1;
        Ok(Some(self.batch.get(self.row - 1)))
    }
}

struct Realign<'a> {
    window: u64,
    mapping: WordMapping,
    scan: WindowScan,
    lookahead: WindowLookahead<'a>,
    /// Flags that exclude a reference, and whether each is in effect.
    left_out: [(bool, Flags); 2],
    /// References of the present window that were emitted; 0 before the window is scanned.
    counted: u64,
    failed: Option<TraceError>,
}

impl Realign<'_> {
    fn counts(&self, access: &Access) -> bool {
        let out = self.left_out.iter().any(|&(active, flag)| active && access.flags.contains(flag));
        access.kind != AccessKind::Fetch && !out
    }

    fn prepare(&mut self) -> Result<(), TraceError> {
        self.scan.next();
        while !self.scan.is_full() {
            let Some(access) = self.lookahead.next()? else { break };
            if self.counts(&access) {
                let writes = access.kind.writes();
                self.scan.push(access.thread, access.addr, access.size, writes);
            }
        }
        self.scan.close();
        self.mapping.realign(&self.scan);
        Ok(())
    }

    fn moved(&mut self, access: &Access) -> Result<Access, TraceError> {
        if !self.counts(access) {
            return Ok(*access);
        }
        if self.counted == 0 {
            self.prepare()?;
        }
        self.counted = (self.counted + 1) % self.window;
        let number = self.scan.find(access);
        let addr = number.map_or(access.addr, |number| self.mapping.address(number, access.addr));
        Ok(Access { addr, ..*access })
    }
}

impl Transform for Realign<'_> {
    fn batch(&mut self, input: &Batch, out: &mut TransformOutput) -> Result<(), TraceError> {
        self.walk(input, out);
        self.failed.take().map_or(Ok(()), Err)
    }

    fn access(&mut self, access: &Access, out: &mut TransformOutput) {
        match self.moved(access) {
            Ok(access) => out.access(&access),
            Err(error) => self.failed = Some(error),
        }
    }

    fn metadata(&self, metadata: &mut Metadata) {
        metadata.moved.extend(self.mapping.ranges());
        metadata.moved.sort_by_key(|range| range.start);
    }

    fn report(&self, metadata: &Metadata) -> Option<TransformReport> {
        Some(TransformReport::Realigned(Box::new(self.mapping.report(&self.scan, metadata))))
    }
}
