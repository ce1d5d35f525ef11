//! A trace of the references that miss in a cache in front of each processor.

mod caches;
mod shape;
mod temporary;

use homenode_base::{Access, AccessKind};
use homenode_trace::Metadata;

use crate::entry::{Entry, Transform};
use crate::output::{Dropped, TransformOutput};
use crate::param::TransformParam;
use crate::report::{FilterReport, TransformReport};
use caches::{FilterCaches, Passage};

pub use shape::CacheFilterShape;
pub use temporary::filter_temporarily;

/// Keeps the references that reach memory behind caches: misses, and the first write to a block
/// that was only read since its miss. Instruction fetches pass unchanged, as the caches hold data.
/// Events stay.
///
/// There are no write-backs: no processor waits for one, and the first write to each block is kept,
/// so the filtered trace writes the same blocks of memory.
pub const ENTRY: Entry = Entry {
    name: "filter",
    summary: "keep the references that miss in a cache in front of each processor",
    source: "docs/machines.md, with write-allocate, least recently used and invalidation",
    params: &[
        TransformParam {
            name: "cache",
            default: "",
            form: "SIZE:WAYS:BLOCK",
            doc: "the cache of each processor, as in 2M:16:64: bytes (K, M and G are powers of \
                  1024), blocks of a set, bytes of a block",
        },
        TransformParam {
            name: "processors",
            default: "",
            form: "N",
            doc: "thread i uses the cache of processor i modulo N; without it, each thread has \
                  its own",
        },
    ],
    pieces: false,
    several: false,
    build: |values, traces| {
        let Some(text) = values.text("cache") else {
            let problem = "cache is missing: give its size, ways and block size, as in 2M:16:64";
            return Err(values.error(problem.to_owned()));
        };
        let shape = CacheFilterShape::parse(text);
        let shape = shape.map_err(|problem| values.error(format!("cache={text}: {problem}")))?;
        let processors = values.count("processors", 1..=PROCESSORS_MAX)?;
        let processors = processors.and_then(|count| u16::try_from(count).ok());
        Ok(Box::new(Filter::new(shape, processors.unwrap_or_else(|| traces[0].threads().max(1)))))
    },
};

const PROCESSORS_MAX: u64 = 65_535;

struct Filter {
    caches: FilterCaches,
    dropped: Dropped,
    report: FilterReport,
}

impl Filter {
    fn new(shape: CacheFilterShape, processors: u16) -> Self {
        let report = FilterReport {
            cache: shape.to_string(),
            processors,
            references: 0,
            hits: 0,
            misses: 0,
            first_writes: 0,
            replacements: 0,
        };
        let caches = FilterCaches::new(shape, processors);
        Self { caches, dropped: Dropped::default(), report }
    }

    fn final_report(&self) -> FilterReport {
        FilterReport { replacements: self.caches.replacements(), ..self.report.clone() }
    }
}

impl Transform for Filter {
    fn access(&mut self, access: &Access, out: &mut TransformOutput) {
        if access.kind == AccessKind::Fetch {
            out.access(&self.dropped.keep(access));
            return;
        }
        self.report.references += 1;
        let count = match self.caches.reference(access) {
            Passage::Hit => {
                self.report.hits += 1;
                self.dropped.drop(access);
                return;
            }
            Passage::FirstWrite => &mut self.report.first_writes,
            Passage::Miss => &mut self.report.misses,
        };
        *count += 1;
        out.access(&self.dropped.keep(access));
    }

    fn report(&self, _metadata: &Metadata) -> Option<TransformReport> {
        Some(TransformReport::Filtered(self.final_report()))
    }
}
