//! Rows to site numbers, codes and differences: the inner loop of the encoder.

use std::ops::Range;

use homenode_base::{put_varint, zigzag};
use rustc_hash::FxHashMap;

use super::MAX_SITES;
use super::index::{SiteIndex, SiteKey};
use super::rows::{SiteColumns, Traits};
use super::site::{
    FIRST_USE, FROM_LAST, FROM_PREVIOUS, OFFSET, SECOND, STRIDE, SitePredictor, WIDTH_OF_CODE,
    width_index,
};

/// What makes rows uses of the same site, besides kind, size and flags.
pub(super) trait SiteNames {
    /// Whether it is made up.
    const SYNTHETIC: bool;

    /// The program counter or its substitute for a row, which is at `offset` from the thread's
    /// previous reference.
    fn name(&self, rows: &SiteColumns<'_>, row: usize, offset: u64) -> u64;
}

/// Sites are instructions.
pub(super) struct ByProgramCounter;

impl SiteNames for ByProgramCounter {
    const SYNTHETIC: bool = false;

    #[inline(always)]
    fn name(&self, rows: &SiteColumns<'_>, row: usize, _offset: u64) -> u64 {
        u64::from_le_bytes(rows.pc[row])
    }
}

/// State of a thread while its rows are coded.
struct ThreadCoder {
    sites: SiteIndex,
    /// Number of the site of its last row.
    last: u16,
    /// Address of its last row.
    previous: u64,
    /// Its rows so far.
    rows: usize,
    /// Site number and code of each row, and room for more.
    numbers: Vec<u16>,
    codes: Vec<u8>,
}

/// Most rows coded at a time, for which a thread has room.
const PIECE_ROWS: usize = 128;

/// The streams about sites and addresses, of a chunk so far.
#[derive(Default)]
pub(super) struct SiteCoder {
    threads: Vec<ThreadCoder>,
    /// Line of each definition, and for each line its latest first use: thread, number.
    lines: FxHashMap<SiteKey, usize>,
    defined: Vec<(SitePredictor, Option<(usize, u16)>)>,
    remembered: usize,
    /// WrittenDifferences that are written out.
    pub(super) differences: WrittenDifferences,
    /// First uses.
    pub(super) first_uses: Vec<u8>,
    /// Definitions.
    pub(super) definitions: Vec<u8>,
}

/// WrittenDifferences of any width, one after the other.
#[derive(Default)]
pub(super) struct WrittenDifferences {
    /// With room for a whole word after what is written.
    bytes: Vec<u8>,
    written: usize,
}

impl WrittenDifferences {
    /// What was written.
    pub(super) fn written(&self) -> &[u8] {
        &self.bytes[..self.written]
    }

    /// Writes the low bytes of a word. A whole word is stored whatever its width, so that there is
    /// no branch on it.
    #[inline(always)]
    fn put(&mut self, word: u64, width: u8) {
        let Some(place) = self.bytes.get_mut(self.written..self.written + 8) else {
            return self.put_at_end(word, width);
        };
        place.copy_from_slice(&word.to_le_bytes());
        self.written += usize::from(width);
    }

    #[cold]
    #[inline(never)]
    fn put_at_end(&mut self, word: u64, width: u8) {
        self.bytes.resize((2 * self.bytes.len()).max(1 << 12), 0);
        self.put(word, width);
    }
}

impl SiteCoder {
    /// Forgets everything but its memory.
    pub(super) fn clear(&mut self) {
        self.threads.clear();
        self.lines.clear();
        self.defined.clear();
        self.remembered = 0;
        self.differences.written = 0;
        self.first_uses.clear();
        self.definitions.clear();
    }

    /// Codes rows from the first in `range` on, and returns how many: up to the first that is
    /// another thread's, but not very many at a time. Their thread is the `slot`-th to appear.
    #[inline(always)]
    pub(super) fn turn<N: SiteNames>(
        &mut self,
        slot: usize,
        (rows, range): (&SiteColumns<'_>, Range<usize>),
        names: &N,
    ) -> usize {
        if self.threads.len() <= slot {
            self.threads.resize_with(slot + 1, ThreadCoder::new);
        }
        let (start, end) = (range.start, range.end.min(range.start + PIECE_ROWS));
        let thread = rows.traits[start];
        let out = &mut self.differences;
        let done = start + self.threads[slot].known_sites((rows, start..end), thread, names, out);
        if done == end || !rows.traits[done].same_thread(thread) {
            done - start
        } else {
            self.turn_with_first_uses(slot, (rows, done..end), thread, names) - start
        }
    }

    /// Goes on with a turn at the first row in `range`, which is the first use of a site. Returns
    /// the row after the turn.
    #[cold]
    #[inline(never)]
    fn turn_with_first_uses<N: SiteNames>(
        &mut self,
        slot: usize,
        (rows, range): (&SiteColumns<'_>, Range<usize>),
        thread: Traits,
        names: &N,
    ) -> usize {
        let mut row = range.start;
        while row < range.end && rows.traits[row].same_thread(thread) {
            let addr = u64::from_le_bytes(rows.addr[row]);
            let offset = addr.wrapping_sub(self.threads[slot].previous);
            let pc = names.name(rows, row, offset);
            let key = SiteKey { pc, traits: rows.traits[row].of_site() };
            self.first_use::<N>(key, slot, addr);
            row += 1;
            let out = &mut self.differences;
            row += self.threads[slot].known_sites((rows, row..range.end), thread, names, out);
        }
        row
    }

    /// Site numbers and codes of a thread's rows.
    pub(super) fn rows(&self, slot: usize) -> (&[u16], &[u8]) {
        let thread = &self.threads[slot];
        (&thread.numbers[..thread.rows], &thread.codes[..thread.rows])
    }

    #[cold]
    #[inline(never)]
    fn first_use<N: SiteNames>(&mut self, key: SiteKey, slot: usize, addr: u64) {
        let line = if let Some(&line) = self.lines.get(&key) {
            put_varint(&mut self.first_uses, line as u64 + 1);
            line
        } else {
            put_varint(&mut self.first_uses, 0);
            self.define(key, if N::SYNTHETIC { 0 } else { key.pc })
        };
        // Threads mostly run the same code over neighbouring data, so the predictor of the thread
        // that began with the site last is a better start than an empty one.
        let mut site = match self.defined[line].1 {
            Some((slot, number)) => self.threads[slot].sites.predictor(number),
            None => self.defined[line].0,
        };
        let thread = &mut self.threads[slot];
        let code = step::<N>(&mut site, [addr, thread.previous], &mut self.differences);
        let mut number = 0;
        // Beyond the limit the number stays 0 and every use is a first use again, which bounds the
        // decoder's memory.
        if thread.sites.count() < usize::from(u16::MAX) && self.remembered < MAX_SITES {
            number = thread.sites.add(key, site);
            thread.last = number;
            self.defined[line].1 = Some((slot, number));
            self.remembered += 1;
        }
        thread.numbers[thread.rows] = number;
        thread.codes[thread.rows] = code | FIRST_USE;
        thread.rows += 1;
        thread.previous = addr;
    }

    fn define(&mut self, key: SiteKey, pc: u64) -> usize {
        let before = self.defined.last().map_or(0, |(site, _)| site.pc);
        put_varint(&mut self.definitions, zigzag(pc.wrapping_sub(before).cast_signed()));
        let [kind, size, flags] = key.traits.parts();
        self.definitions.extend([kind, size, flags]);
        self.defined
            .push((SitePredictor { pc, kind, size, flags, ..SitePredictor::default() }, None));
        self.lines.insert(key, self.defined.len() - 1);
        self.defined.len() - 1
    }
}

impl ThreadCoder {
    fn new() -> Self {
        Self {
            sites: SiteIndex::new(),
            last: 0,
            previous: 0,
            rows: 0,
            numbers: Vec::new(),
            codes: Vec::new(),
        }
    }

    /// Makes room for rows.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, rows: usize) {
        let room = (self.rows + rows).max(2 * self.codes.len());
        self.numbers.resize(room, 0);
        self.codes.resize(room, 0);
    }

    /// Codes rows of `thread` up to the first that is the first use of a site, or another thread's;
    /// returns how many.
    ///
    /// What is known from row to row is in local variables: through memory the chain from row to
    /// row would be longer.
    #[inline(always)]
    fn known_sites<N: SiteNames>(
        &mut self,
        (rows, range): (&SiteColumns<'_>, Range<usize>),
        thread: Traits,
        names: &N,
        differences: &mut WrittenDifferences,
    ) -> usize {
        // Room for the rows, and for one that is the first use of a site.
        let count = range.len();
        if self.rows + count >= self.codes.len() {
            self.grow(count + 1);
        }
        let numbers = &mut self.numbers[self.rows..self.rows + count];
        let codes = &mut self.codes[self.rows..self.rows + count];
        let rows = rows.part(range);
        let (sites, table) = self.sites.parts();
        let (mut last, mut previous) = (usize::from(self.last), self.previous);
        let mut row = 0;
        while row < count && rows.traits[row].same_thread(thread) {
            let addr = u64::from_le_bytes(rows.addr[row]);
            let pc = names.name(&rows, row, addr.wrapping_sub(previous));
            let key = SiteKey { pc, traits: rows.traits[row].of_site() };
            // Most sites are followed by the same site as last time, which saves hashing.
            let before = &mut sites[last];
            let (guess, print) = (usize::from(before.next), before.next_print);
            if print == key.print() && sites[guess].key() == key {
                last = guess;
            } else {
                let number = table.find(sites, key);
                if number == 0 {
                    break;
                }
                (sites[last].next, sites[last].next_print) = (number, key.print());
                last = usize::from(number);
            }
            codes[row] = step::<N>(&mut sites[last].predictor, [addr, previous], differences);
            numbers[row] = u16::try_from(last).unwrap_or(0);
            previous = addr;
            row += 1;
        }
        (self.last, self.previous) = (u16::try_from(last).unwrap_or(0), previous);
        self.rows += row;
        row
    }
}

/// The code of `addr`, which the site learns; appends the difference that it needs.
#[inline(always)]
fn step<N: SiteNames>(
    site: &mut SitePredictor,
    [addr, previous]: [u64; 2],
    differences: &mut WrittenDifferences,
) -> u8 {
    let stride = addr.wrapping_sub(site.last);
    let offset = addr.wrapping_sub(previous);
    // A site without program counter is a difference to the thread's previous address: that first.
    let code = if N::SYNTHETIC && offset == site.offset {
        OFFSET
    } else if stride == site.stride {
        STRIDE
    } else if stride == site.second {
        SECOND
    } else if offset == site.offset {
        OFFSET
    } else {
        let [along, beside] = [stride, offset].map(|distance| zigzag(distance.cast_signed()));
        let [along_width, beside_width] = [along, beside].map(width_index);
        let beside_is_best = N::SYNTHETIC || beside_width < along_width;
        let (zigzag, code) = if beside_is_best {
            (beside, FROM_PREVIOUS + beside_width)
        } else {
            (along, FROM_LAST + along_width)
        };
        differences.put(zigzag, WIDTH_OF_CODE[usize::from(code & 15)]);
        code
    };
    // As `SitePredictor::learn`, which has the differences yet to take.
    if stride != site.stride {
        site.second = site.stride;
        site.stride = stride;
    }
    site.last = addr;
    site.offset = offset;
    code
}
