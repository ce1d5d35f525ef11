//! Codes the rows of one thread as site numbers and codes: the inner loops of the encoder.

use std::ops::Range;

use homenode_base::zigzag;

use super::index::{SiteIndex, SiteKey};
use super::rows::{SiteColumns, SiteTraits, Traits};
use super::site::{
    FIRST_USE, FROM_LAST, FROM_PREVIOUS, OFFSET, SECOND, STRIDE, SitePredictor, WIDTH_OF_CODE,
    width_index,
};
use super::written::WrittenDifferences;

/// Rows get their sites by program counter.
pub(super) const INSTRUCTIONS: u8 = 0;
/// Rows get their sites one by one without program counters, see `made_up`.
pub(super) const MADE_UP: u8 = 1;
/// Rows get their sites by a key in place of the program counter, see `counted`.
pub(super) const COUNTED: u8 = 2;
/// One site per thread and traits, for unpredictable rows.
pub(super) const SCATTERED: u8 = 3;

pub(super) struct ThreadCoder {
    pub(super) sites: SiteIndex,
    last: u16,
    previous: u64,
    rows: usize,
    coded: CodedRows,
}

/// Site number and code of each row of a thread, with spare capacity.
#[derive(Default)]
pub(super) struct CodedRows {
    numbers: Vec<u16>,
    codes: Vec<u8>,
}

impl CodedRows {
    pub(super) const fn room(&self) -> usize {
        self.codes.len()
    }
}

impl ThreadCoder {
    pub(super) fn new(thread: u16, room: CodedRows) -> Self {
        Self { sites: SiteIndex::new(thread), last: 0, previous: 0, rows: 0, coded: room }
    }

    pub(super) fn into_room(self) -> CodedRows {
        self.coded
    }

    pub(super) fn rows(&self) -> (&[u16], &[u8]) {
        (&self.coded.numbers[..self.rows], &self.coded.codes[..self.rows])
    }

    #[inline(always)]
    pub(super) fn reserve(&mut self, rows: usize) {
        if self.rows + rows > self.coded.room() {
            self.grow(rows);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, rows: usize) {
        let room = (self.rows + rows).max(2 * self.coded.room());
        self.coded.numbers.resize(room, 0);
        self.coded.codes.resize(room, 0);
    }

    pub(super) const fn offset(&self, addr: u64) -> u64 {
        addr.wrapping_sub(self.previous)
    }

    /// The site that followed the current one last time, if it has these traits and its last
    /// address is less than `reach` away.
    pub(super) fn next_nearby(&self, addr: u64, traits: SiteTraits, reach: u64) -> Option<u16> {
        let number = self.sites.site(self.last).next;
        let next = self.sites.site(number);
        let distance = addr.wrapping_sub(next.predictor.last);
        let is_near = distance.wrapping_add(reach) < 2 * reach;
        (is_near && next.key().traits == traits).then_some(number)
    }

    /// Codes rows of `thread`, for which memory is reserved, up to the first use of an instruction
    /// or the first row of another thread; returns their number.
    ///
    /// State carried from row to row is in local variables: memory would lengthen the dependence
    /// chain.
    #[inline(always)]
    pub(super) fn known_instructions<const BY: u8>(
        &mut self,
        rows: &SiteColumns<'_>,
        range: Range<usize>,
        thread: Traits,
        differences: &mut WrittenDifferences,
    ) -> usize {
        let count = range.len();
        let numbers = &mut self.coded.numbers[self.rows..self.rows + count];
        let codes = &mut self.coded.codes[self.rows..self.rows + count];
        let rows = rows.part(range);
        let (sites, table) = self.sites.parts();
        let (mut last, mut previous) = (usize::from(self.last), self.previous);
        let mut row = 0;
        while row < count {
            let (addr, pc) = (u64::from_le_bytes(rows.addr[row]), u64::from_le_bytes(rows.pc[row]));
            let traits = rows.traits[row];
            // Most sites are followed by the same site as last time, which saves hashing. The
            // traits include the thread.
            let guess = usize::from(sites[last].next);
            if sites[guess].is(pc, traits) {
                last = guess;
            } else {
                if !traits.same_thread(thread) {
                    break;
                }
                let number = table.find(sites, SiteKey { pc, traits: traits.of_site() });
                if number == 0 {
                    break;
                }
                sites[last].next = number;
                last = usize::from(number);
            }
            codes[row] = step::<BY>(&mut sites[last].predictor, [addr, previous], differences);
            numbers[row] = u16::try_from(last).unwrap_or(0);
            previous = addr;
            row += 1;
        }
        (self.last, self.previous) = (u16::try_from(last).unwrap_or(0), previous);
        self.rows += row;
        row
    }

    /// Codes rows without program counters, for which memory is reserved, while the site that
    /// followed last time predicts them, up to the first row of another thread; returns their
    /// number.
    #[inline(always)]
    pub(super) fn followed(&mut self, rows: &SiteColumns<'_>, range: Range<usize>) -> usize {
        let count = range.len();
        let numbers = &mut self.coded.numbers[self.rows..self.rows + count];
        let codes = &mut self.coded.codes[self.rows..self.rows + count];
        let rows = rows.part(range);
        let (sites, _) = self.sites.parts();
        let (mut last, mut previous) = (self.last, self.previous);
        let mut row = 0;
        while row < count {
            let addr = u64::from_le_bytes(rows.addr[row]);
            let next = sites[usize::from(last)].next;
            let site = &mut sites[usize::from(next)];
            if !site.has(rows.traits[row]) {
                break;
            }
            let Some(code) = predicting_code::<MADE_UP>(&site.predictor, [addr, previous]) else {
                break;
            };
            learn(&mut site.predictor, [addr, previous]);
            (codes[row], numbers[row]) = (code, next);
            (last, previous) = (next, addr);
            row += 1;
        }
        (self.last, self.previous) = (last, previous);
        self.rows += row;
        row
    }

    /// The site that followed the current one last time, if it predicts a row without program
    /// counter.
    #[inline(always)]
    pub(super) fn next_predicting(&self, addr: u64, traits: Traits) -> Option<u16> {
        let number = self.sites.site(self.last).next;
        let next = self.sites.site(number);
        let code = predicting_code::<MADE_UP>(&next.predictor, [addr, self.previous]);
        (code.is_some() && next.has(traits)).then_some(number)
    }

    #[inline(always)]
    pub(super) fn instruction(&self, pc: u64, traits: Traits) -> u16 {
        let guess = self.sites.site(self.last).next;
        if self.sites.site(guess).is(pc, traits) {
            guess
        } else {
            self.sites.find(SiteKey { pc, traits: traits.of_site() })
        }
    }

    #[inline(always)]
    pub(super) fn use_site<const BY: u8>(
        &mut self,
        number: u16,
        addr: u64,
        differences: &mut WrittenDifferences,
    ) {
        let (sites, _) = self.sites.parts();
        sites[usize::from(self.last)].next = number;
        let site = &mut sites[usize::from(number)].predictor;
        let code = step::<BY>(site, [addr, self.previous], differences);
        self.last = number;
        self.put(number, code, addr);
    }

    /// Codes a row as the first use of a site with this initial predictor. Returns the number of
    /// the site, which is remembered under `key`; 0 without a key.
    pub(super) fn first_use<const BY: u8>(
        &mut self,
        key: Option<SiteKey>,
        mut site: SitePredictor,
        addr: u64,
        differences: &mut WrittenDifferences,
    ) -> u16 {
        let code = step::<BY>(&mut site, [addr, self.previous], differences);
        let mut number = 0;
        if let Some(key) = key {
            number = self.sites.add(key, site);
            let (sites, _) = self.sites.parts();
            sites[usize::from(self.last)].next = number;
            self.last = number;
        }
        self.put(number, code | FIRST_USE, addr);
        number
    }

    #[inline(always)]
    fn put(&mut self, number: u16, code: u8, addr: u64) {
        self.coded.numbers[self.rows] = number;
        self.coded.codes[self.rows] = code;
        self.rows += 1;
        self.previous = addr;
    }
}

/// The code by which a site predicts `addr`, if it does.
///
/// Without program counters a site often represents a distance to the thread's previous address, so
/// that is tried first.
#[inline(always)]
fn predicting_code<const BY: u8>(site: &SitePredictor, [addr, previous]: [u64; 2]) -> Option<u8> {
    let stride = addr.wrapping_sub(site.last);
    let offset = addr.wrapping_sub(previous);
    if BY != INSTRUCTIONS && offset == site.offset {
        Some(OFFSET)
    } else if stride == site.stride {
        Some(STRIDE)
    } else if stride == site.second {
        Some(SECOND)
    } else if offset == site.offset {
        Some(OFFSET)
    } else {
        None
    }
}

/// `SitePredictor::learn` with fewer stores.
#[inline(always)]
fn learn(site: &mut SitePredictor, [addr, previous]: [u64; 2]) {
    let stride = addr.wrapping_sub(site.last);
    if stride != site.stride {
        site.second = site.stride;
        site.stride = stride;
    }
    site.last = addr;
    site.offset = addr.wrapping_sub(previous);
}

/// The code of an address, which the site learns; appends the difference, if the code needs one.
#[inline(always)]
fn step<const BY: u8>(
    site: &mut SitePredictor,
    addresses: [u64; 2],
    differences: &mut WrittenDifferences,
) -> u8 {
    let predicted = predicting_code::<BY>(site, addresses);
    let code = predicted.unwrap_or_else(|| write_out::<BY>(site, addresses, differences));
    learn(site, addresses);
    code
}

/// Appends the difference of `addr` to the site's last or the thread's previous address, mostly the
/// narrower one, and returns its code.
#[inline(always)]
fn write_out<const BY: u8>(
    site: &SitePredictor,
    [addr, previous]: [u64; 2],
    differences: &mut WrittenDifferences,
) -> u8 {
    let [along, beside] =
        [site.last, previous].map(|from| zigzag(addr.wrapping_sub(from).cast_signed()));
    let [along_width, beside_width] = [along, beside].map(width_index);
    let beside_is_best = match BY {
        INSTRUCTIONS => beside_width < along_width,
        MADE_UP | SCATTERED => beside_width <= along_width,
        _ => true,
    };
    let (zigzag, code) = if beside_is_best {
        (beside, FROM_PREVIOUS + beside_width)
    } else {
        (along, FROM_LAST + along_width)
    };
    differences.put(zigzag, WIDTH_OF_CODE[usize::from(code & 15)]);
    code
}
