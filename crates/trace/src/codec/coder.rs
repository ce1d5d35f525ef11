//! Codes the rows of all threads as site numbers, codes and differences.

use std::ops::Range;

use homenode_base::{put_varint, zigzag};
use rustc_hash::FxHashMap;

use super::MAX_SITES;
use super::index::SiteKey;
use super::made_up::{ELSEWHERE, UnpredictedOffsets};
use super::rows::{SiteColumns, Traits};
use super::site::SitePredictor;
use super::thread::{CodedRows, INSTRUCTIONS, MADE_UP, SCATTERED, ThreadCoder};
use super::written::WrittenDifferences;
use crate::format::v1::MAX_ROWS;

/// Most rows coded at a time; a thread reserves memory for them.
const PIECE_ROWS: usize = 128;

/// Rows of all threads whose memory is reused for the next chunk.
const SPARE_ROWS: usize = 2 * MAX_ROWS as usize;

#[derive(Default)]
pub(super) struct SiteCoder {
    threads: Vec<ThreadCoder>,
    spare: Vec<CodedRows>,
    /// Line of each definition.
    lines: FxHashMap<SiteKey, usize>,
    /// By line, the site and its latest first use.
    defined: Vec<DefinedSite>,
    remembered: usize,
    unpredicted: UnpredictedOffsets,
    pub(super) differences: WrittenDifferences,
    pub(super) first_uses: Vec<u8>,
    pub(super) definitions: Vec<u8>,
}

struct DefinedSite {
    site: SitePredictor,
    /// The thread that last started using it.
    latest: Option<SiteUse>,
}

#[derive(Clone, Copy)]
struct SiteUse {
    /// The thread, in order of appearance.
    slot: usize,
    number: u16,
}

impl SiteCoder {
    pub(super) fn clear(&mut self) {
        let mut rows = 0;
        let fits = |room: &CodedRows| {
            rows += room.room();
            rows <= SPARE_ROWS
        };
        // The first thread to appear reuses the memory of the first thread of the previous chunk.
        self.spare.clear();
        self.spare.extend(self.threads.drain(..).map(ThreadCoder::into_room).take_while(fits));
        self.spare.reverse();
        self.lines.clear();
        self.defined.clear();
        self.remembered = 0;
        self.unpredicted.clear();
        self.differences.clear();
        self.first_uses.clear();
        self.definitions.clear();
    }

    /// Forgets the keys of all sites: a site of rows without program counters must not be taken for
    /// an instruction whose program counter equals its key.
    #[cold]
    pub(super) fn forget_names(&mut self) {
        self.lines.clear();
        self.threads.iter_mut().for_each(|thread| thread.sites.forget_names());
    }

    /// Codes rows of `range` up to the first row of another thread, and at most [`PIECE_ROWS`];
    /// returns their number. Their thread is the `slot`-th to appear. `BY` selects how rows get
    /// their sites.
    #[inline(always)]
    pub(super) fn turn<const BY: u8>(
        &mut self,
        slot: usize,
        rows: &SiteColumns<'_>,
        range: Range<usize>,
    ) -> usize {
        let (start, end) = (range.start, range.end.min(range.start + PIECE_ROWS));
        let thread = rows.traits[start];
        self.begin(slot, thread);
        self.threads[slot].reserve(end - start);
        let mut row = start;
        loop {
            let coder = &mut self.threads[slot];
            row += if BY != MADE_UP {
                coder.known_instructions::<BY>(rows, row..end, thread, &mut self.differences)
            } else {
                coder.followed(rows, row..end)
            };
            if row == end || !rows.traits[row].same_thread(thread) {
                return row - start;
            }
            self.other_row::<BY>(slot, rows, row);
            row += 1;
        }
    }

    /// Codes one row of the `slot`-th thread to appear: as [`turn`](Self::turn), in fewer
    /// instructions where threads alternate.
    #[inline(always)]
    pub(super) fn row<const BY: u8>(&mut self, slot: usize, rows: &SiteColumns<'_>, row: usize) {
        let (addr, traits) = (u64::from_le_bytes(rows.addr[row]), rows.traits[row]);
        self.begin(slot, traits);
        let thread = &mut self.threads[slot];
        thread.reserve(1);
        let number = match BY {
            MADE_UP => thread.next_predicting(addr, traits).unwrap_or(0),
            _ => thread.instruction(name::<BY>(rows, row), traits),
        };
        match number {
            0 => self.other_row::<BY>(slot, rows, row),
            number => thread.use_site::<BY>(number, addr, &mut self.differences),
        }
    }

    /// Codes a row whose site is new to the thread or not yet chosen.
    #[inline(always)]
    fn other_row<const BY: u8>(&mut self, slot: usize, rows: &SiteColumns<'_>, row: usize) {
        let (addr, traits) = (u64::from_le_bytes(rows.addr[row]), rows.traits[row].of_site());
        let thread = &mut self.threads[slot];
        let choice = match BY {
            MADE_UP => self.unpredicted.choose(thread, addr, traits),
            _ => Err(SiteKey { pc: name::<BY>(rows, row), traits }),
        };
        match choice {
            Ok(number) => thread.use_site::<BY>(number, addr, &mut self.differences),
            Err(key) => self.first_use::<BY>(key, slot, addr),
        }
    }

    #[inline(always)]
    fn begin(&mut self, slot: usize, traits: Traits) {
        if self.threads.len() == slot {
            let room = self.spare.pop().unwrap_or_default();
            self.threads.push(ThreadCoder::new(traits.thread(), room));
        }
    }

    pub(super) fn rows(&self, slot: usize) -> (&[u16], &[u8]) {
        self.threads[slot].rows()
    }

    #[cold]
    #[inline(never)]
    fn first_use<const BY: u8>(&mut self, key: SiteKey, slot: usize, addr: u64) {
        let line = if let Some(&line) = self.lines.get(&key) {
            put_varint(&mut self.first_uses, line as u64 + 1);
            line
        } else {
            put_varint(&mut self.first_uses, 0);
            self.define(key, if BY == INSTRUCTIONS { key.pc } else { 0 })
        };
        // Threads mostly run the same code over neighbouring data, so the predictor of the thread
        // that last started using the site is a better start than an empty one.
        let site = match self.defined[line].latest {
            Some(used) => self.threads[used.slot].sites.site(used.number).predictor,
            None => self.defined[line].site,
        };
        let thread = &mut self.threads[slot];
        // Beyond the limit every use is a first use again, which bounds the decoder's memory.
        let remember = thread.sites.count() < usize::from(u16::MAX) && self.remembered < MAX_SITES;
        let remembered = remember.then_some(key);
        let number = thread.first_use::<BY>(remembered, site, addr, &mut self.differences);
        if remember {
            self.defined[line].latest = Some(SiteUse { slot, number });
            self.remembered += 1;
        }
    }

    fn define(&mut self, key: SiteKey, pc: u64) -> usize {
        let before = self.defined.last().map_or(0, |defined| defined.site.pc);
        put_varint(&mut self.definitions, zigzag(pc.wrapping_sub(before).cast_signed()));
        let [kind, size, flags] = key.traits.parts();
        self.definitions.extend([kind, size, flags]);
        let site = SitePredictor { pc, kind, size, flags, ..SitePredictor::default() };
        self.defined.push(DefinedSite { site, latest: None });
        self.lines.insert(key, self.defined.len() - 1);
        self.defined.len() - 1
    }
}

/// The program counter of a row, or its substitute.
#[inline(always)]
fn name<const BY: u8>(rows: &SiteColumns<'_>, row: usize) -> u64 {
    if BY == SCATTERED { ELSEWHERE } else { u64::from_le_bytes(rows.pc[row]) }
}
