//! Encodes rows as streams: the inverse of `decode`, and the choice of sites and codes.

use rustc_hash::FxHashMap;

use super::site::{
    FIRST_USE, FROM_LAST, FROM_PREVIOUS, OFFSET, SECOND, STRIDE, SitePredictor, WIDTH_OF_CODE,
    width_index,
};
use super::stream::StreamWriter;
use super::turns::{starts, turns};
use super::{MAX_SITES, event, id, wide};
use crate::bytes::{put_varint, zigzag};
use crate::model::Batch;

/// Appends the streams of `batch` to `out`; `table` has its threads and their rows.
pub(crate) fn encode(batch: &Batch, table: &[(u16, u32)], level: i32, out: &mut Vec<u8>) {
    let turns = turns(&batch.thread, table);
    let mut streams = StreamWriter::new(level);
    let [mut slots, mut lengths] = [Vec::new(), Vec::new()];
    let mut before = 0;
    for turn in &turns {
        let step = (turn.slot() + table.len() - before) % table.len();
        put_varint(&mut slots, step as u64);
        put_varint(&mut lengths, turn.len() as u64);
        before = turn.slot();
    }
    streams.put(id::TURNS, &slots);
    streams.put(id::LENGTHS, &lengths);
    let mut encoder = Encoder::new(batch, table);
    for turn in &turns {
        for row in turn.range() {
            encoder.row(batch, row, turn.slot());
        }
    }
    encoder.put(&mut streams);
    wide::put_gaps(&batch.gap, &turns, table, &mut streams);
    wide::put_pids(&batch.pid, &turns, table, &mut streams);
    let mut events = Vec::new();
    event::encode(&batch.events, &mut events);
    streams.put_dense(id::EVENTS, &events);
    streams.finish(out);
}

/// Identity of a site: the program counter or its substitute; kind, size and flags.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct SiteKey {
    pc: u64,
    traits: u32,
}

struct ThreadEncoder {
    sites: Vec<(SiteKey, SitePredictor)>,
    /// For each site the index of its last successor.
    next: Vec<u32>,
    last: u32,
    previous: u64,
    at: usize,
}

struct Encoder {
    threads: Vec<ThreadEncoder>,
    /// Index of a site among those of a thread, which is given by its slot in the thread table.
    known: FxHashMap<(usize, SiteKey), u32>,
    /// Line of each definition, and for each line its latest first use.
    lines: FxHashMap<SiteKey, usize>,
    defined: Vec<(SitePredictor, Option<(usize, usize)>)>,
    remembered: usize,
    /// Count of each difference by hash, in a trace without program counters.
    frequent: Option<Vec<u8>>,
    numbers: Vec<u16>,
    codes: Vec<u8>,
    differences: Vec<u8>,
    first_uses: Vec<u8>,
    definitions: Vec<u8>,
}

/// Entries of the table that counts differences. A collision only costs some bytes.
const COUNTERS: usize = 1 << 18;
/// A difference that occurs this often in a chunk becomes a site.
const FREQUENT_MIN: u8 = 250;
/// Substitute for the program counter of rows whose difference is rare.
const RARE_DIFFERENCE: u64 = u64::MAX;

fn counter(difference: u64, traits: u32) -> usize {
    let mixed = (difference ^ u64::from(traits) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from(mixed >> 46).unwrap_or(0) % COUNTERS
}

fn traits(batch: &Batch, row: usize) -> u32 {
    let flags = batch.flags.get(row).copied().unwrap_or(0);
    u32::from_le_bytes([batch.kind[row], batch.size[row], flags, 0])
}

/// Counts the differences to the thread's previous address, by a hash.
fn count_differences(batch: &Batch, table: &[(u16, u32)]) -> Vec<u8> {
    let mut counters = vec![0u8; COUNTERS];
    let mut previous = vec![0u64; table.len()];
    for turn in turns(&batch.thread, table) {
        let previous = &mut previous[turn.slot()];
        for row in turn.range() {
            let difference = batch.addr[row].wrapping_sub(*previous);
            let count = &mut counters[counter(difference, traits(batch, row))];
            *count = count.saturating_add(1);
            *previous = batch.addr[row];
        }
    }
    counters
}

impl Encoder {
    fn new(batch: &Batch, table: &[(u16, u32)]) -> Self {
        let rows = batch.len();
        let start =
            |at| ThreadEncoder { sites: Vec::new(), next: Vec::new(), last: 0, previous: 0, at };
        let has_pc = batch.pc.iter().any(|&pc| pc != 0);
        Self {
            threads: starts(table).into_iter().map(start).collect(),
            known: FxHashMap::default(),
            lines: FxHashMap::default(),
            defined: Vec::new(),
            remembered: 0,
            frequent: (!has_pc).then(|| count_differences(batch, table)),
            numbers: vec![0; rows],
            codes: vec![0; rows],
            differences: Vec::new(),
            first_uses: Vec::new(),
            definitions: Vec::new(),
        }
    }

    #[inline]
    fn key(&self, batch: &Batch, row: usize, slot: usize) -> SiteKey {
        let traits = traits(batch, row);
        let Some(counters) = &self.frequent else {
            return SiteKey { pc: batch.pc[row], traits };
        };
        // Without program counters a frequent difference stands for the instruction that makes it;
        // all others share one site, whose differences are written out.
        let difference = batch.addr[row].wrapping_sub(self.threads[slot].previous);
        let is_frequent = counters[counter(difference, traits)] >= FREQUENT_MIN;
        SiteKey { pc: if is_frequent { difference } else { RARE_DIFFERENCE }, traits }
    }

    #[inline]
    fn row(&mut self, batch: &Batch, row: usize, slot: usize) {
        let key = self.key(batch, row, slot);
        let addr = batch.addr[row];
        let thread = &mut self.threads[slot];
        // Most sites are followed by the same site as last time, which saves hashing.
        let guess = thread.next.get(thread.last as usize).copied().unwrap_or(u32::MAX);
        let found = match thread.sites.get(guess as usize) {
            Some((known, _)) if *known == key => Some(guess),
            _ => self.known.get(&(slot, key)).copied(),
        };
        let Some(index) = found else { return self.first_use(key, slot, addr) };
        let thread = &mut self.threads[slot];
        let last = std::mem::replace(&mut thread.last, index);
        if let Some(next) = thread.next.get_mut(last as usize) {
            *next = index;
        }
        let site = &mut thread.sites[index as usize].1;
        let synthetic = self.frequent.is_some();
        let code = encode_address(site, [addr, thread.previous], synthetic, &mut self.differences);
        self.codes[thread.at] = code;
        // At most 65535 sites are remembered for a thread, so this fits.
        self.numbers[thread.at] = u16::try_from(index + 1).unwrap_or(0);
        site.learn(addr, thread.previous);
        thread.previous = addr;
        thread.at += 1;
    }

    #[cold]
    fn first_use(&mut self, key: SiteKey, slot: usize, addr: u64) {
        let synthetic = self.frequent.is_some();
        let line = if let Some(&line) = self.lines.get(&key) {
            put_varint(&mut self.first_uses, line as u64 + 1);
            line
        } else {
            put_varint(&mut self.first_uses, 0);
            self.define(key, if synthetic { 0 } else { key.pc })
        };
        // Threads mostly run the same code over neighbouring data, so the predictor of the thread
        // that began with the site last is a better start than an empty one.
        let mut site = match self.defined[line].1 {
            Some((slot, index)) => self.threads[slot].sites[index].1,
            None => self.defined[line].0,
        };
        let thread = &mut self.threads[slot];
        let code = encode_address(&site, [addr, thread.previous], synthetic, &mut self.differences);
        self.codes[thread.at] = code | FIRST_USE;
        site.learn(addr, thread.previous);
        let index = thread.sites.len();
        // Beyond the limit the number stays 0 and every use is a first use again, which bounds the
        // decoder's memory.
        if index < usize::from(u16::MAX) && self.remembered < MAX_SITES {
            let number = u32::try_from(index).unwrap_or(u32::MAX);
            self.numbers[thread.at] = u16::try_from(index + 1).unwrap_or(0);
            thread.sites.push((key, site));
            thread.next.push(u32::MAX);
            thread.last = number;
            self.known.insert((slot, key), number);
            self.defined[line].1 = Some((slot, index));
            self.remembered += 1;
        }
        thread.previous = addr;
        thread.at += 1;
    }

    fn define(&mut self, key: SiteKey, pc: u64) -> usize {
        let before = self.defined.last().map_or(0, |(site, _)| site.pc);
        put_varint(&mut self.definitions, zigzag(pc.wrapping_sub(before).cast_signed()));
        let [kind, size, flags, _] = key.traits.to_le_bytes();
        self.definitions.extend([kind, size, flags]);
        self.defined
            .push((SitePredictor { pc, kind, size, flags, ..SitePredictor::default() }, None));
        self.lines.insert(key, self.defined.len() - 1);
        self.defined.len() - 1
    }

    fn put(&self, streams: &mut StreamWriter) {
        if self.numbers.iter().all(|&number| number <= 255) {
            let narrow: Vec<u8> = self.numbers.iter().map(|n| n.to_le_bytes()[0]).collect();
            streams.put(id::SITES, &narrow);
        } else {
            let wide: Vec<u8> = self.numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
            streams.put(id::WIDE_SITES, &wide);
        }
        streams.put(id::CODES, &self.codes);
        streams.put(id::DIFFERENCES, &self.differences);
        streams.put(id::FIRST_USES, &self.first_uses);
        streams.put(id::DEFINITIONS, &self.definitions);
    }
}

/// The code of `addr`; appends the difference that it needs to `out`.
#[inline]
fn encode_address(
    site: &SitePredictor,
    [addr, previous]: [u64; 2],
    synthetic: bool,
    out: &mut Vec<u8>,
) -> u8 {
    // A site without program counter is a difference to the thread's previous address: that first.
    let order = if synthetic { [OFFSET, STRIDE, SECOND] } else { [STRIDE, SECOND, OFFSET] };
    for code in order {
        if site.address(code, previous, 0) == addr {
            return code;
        }
    }
    let far = |base: u64| zigzag(addr.wrapping_sub(base).cast_signed());
    let [last, from_previous_address] = [far(site.last), far(previous)];
    let from_previous = synthetic || width_index(from_previous_address) < width_index(last);
    let (base, zigzag) =
        if from_previous { (FROM_PREVIOUS, from_previous_address) } else { (FROM_LAST, last) };
    let code = base + width_index(zigzag);
    out.extend(&zigzag.to_le_bytes()[..usize::from(WIDTH_OF_CODE[usize::from(code)])]);
    code
}
