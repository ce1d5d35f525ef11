//! Maps threads to processors.

use homenode_base::Access;
use homenode_trace::{Event, EventKind, Metadata};

use crate::entry::{Entry, Transform};
use crate::output::TransformOutput;
use crate::param::TransformParam;

/// Renumbers threads, so that those on one processor become one.
///
/// Events are renumbered with their threads; thread exits, creations and joins are dropped, as a
/// processor neither begins nor ends.
pub const ENTRY: Entry = Entry {
    name: "processors",
    summary: "put threads on processors: those on the same one become one thread",
    source: "thread i on processor i modulo N, or a list",
    params: &[
        TransformParam {
            name: "count",
            default: "",
            form: "N",
            doc: "thread i runs on processor i modulo N",
        },
        TransformParam {
            name: "map",
            default: "",
            form: "P,P,...",
            doc: "processor of thread 0, of thread 1, and so on, for every thread",
        },
    ],
    pieces: false,
    several: false,
    build: |values, traces| {
        let threads = traces[0].threads();
        let count = values.count("count", 1..=1 << 15)?;
        let processor_of: Vec<u16> = match (count, values.text("map")) {
            (Some(_), Some(_)) | (None, None) => {
                return Err(values.error("give either count or map".to_owned()));
            }
            (Some(count), None) => {
                let count = u16::try_from(count).unwrap_or(u16::MAX);
                (0..u16::MAX).map(|thread| thread % count).collect()
            }
            (None, Some(text)) => {
                let items = text.split(',').map(|item| item.trim().parse().ok());
                let map: Option<Vec<u16>> = items.collect();
                let fits = |map: &Vec<u16>| map.iter().all(|&processor| processor < 1 << 15);
                map.filter(fits).ok_or_else(|| {
                    let expected = "expected processors from 0 to 32767 separated by commas";
                    values.error(format!("map={text}: {expected}"))
                })?
            }
        };
        if processor_of.len() < usize::from(threads) {
            let given = processor_of.len();
            return Err(values.error(format!(
                "map names the processors of {given} threads; the trace has {threads}"
            )));
        }
        Ok(Box::new(Processors { processor_of }))
    },
};

struct Processors {
    processor_of: Vec<u16>,
}

impl Processors {
    /// Threads with events but no references may have no processor; they keep their number.
    fn of(&self, thread: u16) -> u16 {
        self.processor_of.get(usize::from(thread)).copied().unwrap_or(thread)
    }
}

impl Transform for Processors {
    fn access(&mut self, access: &Access, out: &mut TransformOutput) {
        out.access(&Access { thread: self.of(access.thread), ..*access });
    }

    fn event(&mut self, event: &Event, out: &mut TransformOutput) {
        let lifetime = matches!(
            event.what,
            EventKind::ThreadExit | EventKind::ThreadCreate { .. } | EventKind::ThreadJoin { .. }
        );
        if !lifetime {
            out.event(Event { thread: self.of(event.thread), ..event.clone() });
        }
    }

    fn metadata(&self, metadata: &mut Metadata) {
        for range in &mut metadata.ranges {
            range.thread = self.of(range.thread);
        }
    }
}
