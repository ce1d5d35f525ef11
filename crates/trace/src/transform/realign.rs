//! Data moved to pages of its only user, window by window.

mod fresh;
mod report;
mod sets;
mod window;

use homenode_base::{Access, AccessKind, BlockSize};

use super::output::{Output, walk};
use super::values::Values;
use super::{Entry, Param, Transform, TransformError};
use crate::model::{Batch, Event, Metadata};
use crate::reader::TraceReader;

pub use report::{FalseSharing, MovedObject, Realignment};

use fresh::Room;
use window::Mapping;

/// The data re-alignment of Markatos and Chronaki, section 3.4.
///
/// A window of references is read. A page that more than one processor referenced in it and at
/// least one wrote may be falsely shared: each of its words that only one processor referenced in
/// the window goes to a page that no one used before, together with others of that processor; a
/// word that several referenced stays. The references of the window, and later ones, find each
/// word where it went. Then comes the next window.
///
/// # Deviations
/// The paper does not say the following. A window's words move before its references are made:
/// the paper calls its policy off-line. A move lasts until another one. Every window begins new
/// pages, for a page of an earlier one was used before. Words go in order of their addresses.
/// Data references count, whatever their flags; fetches do not and stay where they are. A
/// reference may be longer than a word here: words that one reference of a window touches stay
/// together, and are one location to the rule above. If an earlier window took them apart they are
/// brought together on a new page, that of their only user or one for those with several.
pub const ENTRY: Entry = Entry {
    name: "realign",
    summary: "move words that one thread uses away from pages that several share and one writes",
    source: "Markatos and Chronaki, section 3.4",
    params: &[
        Param {
            name: "page-size",
            default: "",
            form: "B",
            doc: "bytes of a page, a power of two from 4; K and M stand for 1024 and its square",
        },
        Param {
            name: "window",
            default: "1000000",
            form: "N",
            doc: "data references that are looked at together",
        },
    ],
    pieces: false,
    build,
};

fn build(values: &Values<'_>, trace: &TraceReader) -> Result<Box<dyn Transform>, TransformError> {
    let page = page_size(values)?;
    let window = values.count("window", 1..=1 << 28)?.unwrap_or(1);
    let room = Room::beside(trace, page, window).ok_or_else(|| {
        values.error(
            "the trace's addresses leave no room for new pages; keep a part of them with \
             `homenode transform select --address`"
                .to_owned(),
        )
    })?;
    Ok(Box::new(Realign {
        window,
        mapping: Mapping::new(page, room),
        data: 0,
        references: Vec::new(),
        events: Vec::new(),
    }))
}

fn page_size(values: &Values<'_>) -> Result<BlockSize, TransformError> {
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

struct Realign {
    /// Data references of a whole window.
    window: u64,
    mapping: Mapping,
    /// Data references of the window under way.
    data: u64,
    /// Its references, in order.
    references: Vec<Access>,
    /// Its events, each with the number of references before it.
    events: Vec<(usize, Event)>,
}

impl Realign {
    fn access(&mut self, access: &Access, out: &mut Output) {
        self.references.push(*access);
        self.data += u64::from(access.kind != AccessKind::Fetch);
        if self.data == self.window || self.data == 0 {
            self.emit(out);
        }
    }

    fn event(&mut self, event: &Event) {
        self.events.push((self.references.len(), event.clone()));
    }

    /// Moves what the window asks for and emits it.
    fn emit(&mut self, out: &mut Output) {
        if self.data > 0 {
            self.mapping.realign(&self.references);
        }
        let mut events = self.events.drain(..).peekable();
        for (row, access) in self.references.drain(..).enumerate() {
            while let Some((_, event)) = events.next_if(|&(at, _)| at <= row) {
                out.event(event);
            }
            out.access(&self.mapping.moved(&access));
        }
        events.for_each(|(_, event)| out.event(event));
        self.data = 0;
    }
}

impl Transform for Realign {
    fn batch(&mut self, input: &Batch, out: &mut Output) {
        let state = &mut (self, out);
        walk(
            input,
            state,
            |(realign, out), access| realign.access(access, out),
            |(realign, _), event| realign.event(event),
        );
    }

    fn finish(&mut self, out: &mut Output) {
        self.emit(out);
    }

    fn report(&self, metadata: &Metadata) -> Option<Realignment> {
        Some(self.mapping.report(metadata))
    }
}
