//! Decodes streams to rows: the inner loop of all readers.

use homenode_base::{AccessKind, Flags};

use super::site::{CODES, FIRST_USE, OFFSET, SitePredictor, WIDTH_OF_CODE, difference};
use super::stream::Streams;
use super::turns::{Turn, starts};
use super::{MAX_SITES, event, id, wide};
use crate::bytes::{Cursor, DecodeFault};
use crate::format::v1::ChunkHeader;
use crate::model::{Batch, ChunkOutline, Columns, Event, Want};
use crate::turns::Turns;

#[derive(Clone, Copy)]
pub(crate) struct ChunkLayout<'a> {
    pub(crate) header: &'a ChunkHeader,
    /// Threads with rows, by thread; the rows add up to those of the header.
    pub(crate) table: &'a [(u16, u32)],
    pub(crate) columns: Columns,
}

/// Replaces the contents of `batch` by the rows of a chunk.
pub(crate) fn decode(
    section: &[u8],
    layout: ChunkLayout<'_>,
    want: Want,
    batch: &mut Batch,
) -> Result<(), DecodeFault> {
    let streams = Streams::parse(section)?;
    let wanted = layout.columns.intersection(want.columns);
    let turns = read_turns(&streams, layout)?;
    name_threads(&turns, layout, &mut batch.turns);
    read_rows(&streams, layout, wanted, &turns, batch)?;
    if !wanted.flags {
        batch.flags.clear();
    }
    if wanted.gap {
        wide::get_gaps(&streams, &turns, layout.table, &mut batch.gap)?;
    }
    if wanted.pid {
        wide::get_pids(&streams, &turns, layout.table, &mut batch.pid)?;
    }
    if want.events {
        read_events(&streams, layout, &mut batch.events)?;
    }
    Ok(())
}

pub(crate) fn outline(
    section: &[u8],
    layout: ChunkLayout<'_>,
) -> Result<ChunkOutline, DecodeFault> {
    let streams = Streams::parse(section)?;
    let mut outline = ChunkOutline::default();
    name_threads(&read_turns(&streams, layout)?, layout, &mut outline.turns);
    read_events(&streams, layout, &mut outline.events)?;
    Ok(outline)
}

fn read_events(
    streams: &Streams<'_>,
    layout: ChunkLayout<'_>,
    events: &mut Vec<(u32, Event)>,
) -> Result<(), DecodeFault> {
    let mut bytes = Vec::new();
    streams.get_dense(id::EVENTS, &mut bytes)?;
    event::decode(&bytes, layout.header.events, layout.header.rows, events)
}

/// Resizes the columns without clearing them first, which would write every byte twice.
fn prepare(batch: &mut Batch, rows: usize, wanted: Columns) {
    batch.events.clear();
    batch.gap.clear();
    batch.pid.clear();
    batch.kind.resize(rows, 0);
    batch.size.resize(rows, 0);
    batch.flags.resize(rows, 0);
    batch.addr.resize(rows, 0);
    batch.pc.resize(if wanted.pc { rows } else { 0 }, 0);
}

fn read_turns(streams: &Streams<'_>, layout: ChunkLayout<'_>) -> Result<Vec<Turn>, DecodeFault> {
    let rows = layout.header.rows as usize;
    let [mut slots, mut lengths] = [Vec::new(), Vec::new()];
    streams.get(id::TURNS, rows * 3, &mut slots)?;
    streams.get(id::LENGTHS, rows * 4, &mut lengths)?;
    let [mut slots, mut lengths] = [Cursor::new(&slots), Cursor::new(&lengths)];
    let mut left: Vec<usize> = layout.table.iter().map(|&(_, rows)| rows as usize).collect();
    let mut turns = Vec::with_capacity(lengths.left().min(rows));
    let [mut row, mut slot] = [0, 0];
    while row < rows {
        let at = slots.offset();
        let step = slots.short_varint()?;
        if step >= left.len() as u64 {
            return Err(DecodeFault::new(at, format!("a thread below {}", left.len()), step));
        }
        // Threads mostly run in the same order, so the steps between threads are small and repeat,
        // which compresses well.
        slot += usize::try_from(step).unwrap_or(0);
        // A division would take as long as the rest of a turn.
        if slot >= left.len() {
            slot -= left.len();
        }
        let length = usize::try_from(lengths.short_varint()?).unwrap_or(usize::MAX);
        if length == 0 || length > left[slot] {
            return Err(DecodeFault::new(
                at,
                format!("a turn of 1 to {} rows", left[slot]),
                length,
            ));
        }
        left[slot] -= length;
        if let Some(turn) = Turn::new(slot, row, length) {
            turns.push(turn);
        }
        row += length;
    }
    slots.end()?;
    lengths.end()?;
    Ok(turns)
}

fn name_threads(turns: &[Turn], layout: ChunkLayout<'_>, named: &mut Turns) {
    named.refill(turns.iter().map(|turn| (layout.table[turn.slot()].0, turn.end())));
}

struct ThreadDecoder {
    /// The sites numbered 1, 2, ...
    sites: Vec<SitePredictor>,
    /// Address of its last reference.
    previous: u64,
    /// Position of its next row in the streams.
    at: usize,
}

/// The explicit differences, followed by eight bytes of padding.
struct Differences<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Differences<'_> {
    /// The next difference, for a row with this code. Past the end it is 0; that is detected once
    /// all rows are decoded.
    #[inline(always)]
    fn next(&mut self, code: u8) -> u64 {
        let word = match self.bytes.get(self.at..self.at + 8) {
            Some(bytes) => u64::from_le_bytes(<[u8; 8]>::try_from(bytes).unwrap_or_default()),
            None => 0,
        };
        self.at += usize::from(WIDTH_OF_CODE[usize::from(code & 15)]);
        difference(code, word)
    }
}

/// State of the cold path: first uses of sites. It is separate to keep the number of live values in
/// the inner loop low.
struct ColdPath<'a> {
    differences: Differences<'a>,
    first_uses: Cursor<'a>,
    definitions: Cursor<'a>,
    /// Defined sites, and for each its latest first use: slot of the thread and index.
    defined: Vec<(SitePredictor, Option<(usize, usize)>)>,
    remembered: usize,
}

fn read_rows(
    streams: &Streams<'_>,
    layout: ChunkLayout<'_>,
    wanted: Columns,
    turns: &[Turn],
    batch: &mut Batch,
) -> Result<(), DecodeFault> {
    let rows = layout.header.rows as usize;
    let mut raw: [Vec<u8>; 6] = std::array::from_fn(|_| Vec::new());
    let [narrow, wide, codes, differences, first_uses, definitions] = &mut raw;
    streams.get(id::SITES, rows, narrow)?;
    streams.get(id::WIDE_SITES, rows * 2, wide)?;
    streams.get(id::CODES, rows, codes)?;
    streams.get(id::DIFFERENCES, rows * 8, differences)?;
    let written = differences.len();
    // Padding, so that every difference can be loaded as eight bytes, whatever its width.
    differences.extend([0; 8]);
    streams.get(id::FIRST_USES, rows * 4, first_uses)?;
    streams.get(id::DEFINITIONS, rows * 13, definitions)?;
    let is_wide = !wide.is_empty();
    let sites = if is_wide { wide } else { narrow };
    let bytes = if is_wide { rows * 2 } else { rows };
    if sites.len() != bytes || codes.len() != rows {
        let found = format!("{} and {}", sites.len(), codes.len());
        return Err(DecodeFault::new(0, format!("{bytes} bytes of sites and {rows} codes"), found));
    }
    // Columns are allocated only now that the streams are known to have the header's number of
    // rows.
    prepare(batch, rows, wanted);
    let mut cold = ColdPath {
        differences: Differences { bytes: differences, at: 0 },
        first_uses: Cursor::new(first_uses),
        definitions: Cursor::new(definitions),
        defined: Vec::new(),
        remembered: 0,
    };
    let input = TurnSource { sites, codes, turns, layout };
    // If many rows have a difference, a branch on that is hard to predict.
    let mixed = written > rows / 16;
    match (is_wide, !batch.pc.is_empty(), mixed) {
        (false, false, false) => input.rows::<1, false, false>(&mut cold, batch),
        (false, false, true) => input.rows::<1, false, true>(&mut cold, batch),
        (false, true, false) => input.rows::<1, true, false>(&mut cold, batch),
        (false, true, true) => input.rows::<1, true, true>(&mut cold, batch),
        (true, false, false) => input.rows::<2, false, false>(&mut cold, batch),
        (true, false, true) => input.rows::<2, false, true>(&mut cold, batch),
        (true, true, false) => input.rows::<2, true, false>(&mut cold, batch),
        (true, true, true) => input.rows::<2, true, true>(&mut cold, batch),
    }?;
    if cold.differences.at != written {
        let found = cold.differences.at;
        return Err(DecodeFault::new(0, format!("{written} bytes of differences"), found));
    }
    cold.first_uses.end()?;
    cold.definitions.end()
}

struct TurnSource<'a> {
    sites: &'a [u8],
    codes: &'a [u8],
    turns: &'a [Turn],
    layout: ChunkLayout<'a>,
}

impl TurnSource<'_> {
    /// Decodes all turns, with site numbers of `WIDTH` bytes; `MIXED` if many rows have a
    /// difference.
    ///
    /// The parameters are constants, so that the inner loop has no branch on them.
    fn rows<const WIDTH: usize, const PC: bool, const MIXED: bool>(
        &self,
        cold: &mut ColdPath<'_>,
        batch: &mut Batch,
    ) -> Result<(), DecodeFault> {
        let start = |at| ThreadDecoder { sites: Vec::new(), previous: 0, at };
        let mut threads: Vec<ThreadDecoder> =
            starts(self.layout.table).into_iter().map(start).collect();
        for turn in self.turns {
            let (rows, slot) = (turn.range(), turn.slot());
            let at = threads[slot].at;
            let mut part = TurnStreams {
                sites: &self.sites[at * WIDTH..(at + turn.len()) * WIDTH],
                codes: &self.codes[at..at + turn.len()],
                addr: &mut batch.addr[rows.clone()],
                kind: &mut batch.kind[rows.clone()],
                size: &mut batch.size[rows.clone()],
                flags: &mut batch.flags[rows.clone()],
                pc: if PC { &mut batch.pc[rows] } else { &mut [] },
            };
            // Rows with known sites are decoded in a loop without calls, which ends at a first use.
            let mut done = 0;
            while done < turn.len() {
                done = part.known_sites::<WIDTH, PC, MIXED>(
                    done,
                    &mut threads[slot],
                    &mut cold.differences,
                );
                if done < turn.len() {
                    let number = part.number::<WIDTH>(done);
                    let site = cold.row(number, part.codes[done], slot, &mut threads)?;
                    part.put::<PC>(done, &site);
                    done += 1;
                }
            }
            threads[slot].at = at + turn.len();
        }
        Ok(())
    }
}

/// Input and output of one turn, all slices of equal length (sites times `WIDTH`).
struct TurnStreams<'a> {
    sites: &'a [u8],
    codes: &'a [u8],
    addr: &'a mut [u64],
    kind: &'a mut [u8],
    size: &'a mut [u8],
    flags: &'a mut [u8],
    pc: &'a mut [u64],
}

impl TurnStreams<'_> {
    #[inline(always)]
    fn number<const WIDTH: usize>(&self, row: usize) -> usize {
        let bytes = &self.sites[row * WIDTH..(row + 1) * WIDTH];
        if WIDTH == 1 {
            usize::from(bytes[0])
        } else {
            usize::from(u16::from_le_bytes([bytes[0], bytes[1]]))
        }
    }

    /// Decodes rows from `start` and returns the first one that needs [`ColdPath::row`].
    ///
    /// `previous` is a local variable: the address of each row may depend on it, and going through
    /// memory would lengthen this dependence chain.
    #[inline(always)]
    fn known_sites<const WIDTH: usize, const PC: bool, const MIXED: bool>(
        &mut self,
        start: usize,
        thread: &mut ThreadDecoder,
        differences: &mut Differences<'_>,
    ) -> usize {
        let rows = self.codes.len();
        let mut previous = thread.previous;
        let sites = thread.sites.as_mut_slice();
        let mut row = start;
        while row < rows {
            let code = self.codes[row];
            // Number 0 is no remembered site: it wraps to an index out of range.
            let index = self.number::<WIDTH>(row).wrapping_sub(1);
            if code >= CODES || index >= sites.len() {
                break;
            }
            let site = &mut sites[index];
            // Loading a difference that the code does not use is harmless: its width is 0. If many
            // rows have one, the load is cheaper than a mispredicted branch; if few do, it is more
            // expensive.
            let written = MIXED || code > OFFSET;
            let difference = if written { differences.next(code) } else { 0 };
            let addr = site.address(code, previous, difference);
            site.learn(addr, previous);
            previous = addr;
            // A copy ends the borrow of the sites; the compiler keeps it in registers.
            let site = *site;
            self.put::<PC>(row, &site);
            row += 1;
        }
        thread.previous = previous;
        row
    }

    #[inline(always)]
    fn put<const PC: bool>(&mut self, row: usize, site: &SitePredictor) {
        self.addr[row] = site.last;
        self.kind[row] = site.kind;
        self.size[row] = site.size;
        self.flags[row] = site.flags;
        if PC {
            self.pc[row] = site.pc;
        }
    }
}

impl ColdPath<'_> {
    #[cold]
    #[inline(never)]
    fn row(
        &mut self,
        number: usize,
        code: u8,
        slot: usize,
        threads: &mut [ThreadDecoder],
    ) -> Result<SitePredictor, DecodeFault> {
        let first = code & FIRST_USE != 0;
        let mut site = if first {
            self.first_use(number, slot, threads)?
        } else {
            let known = threads[slot].sites.get(number.wrapping_sub(1));
            let expected = || format!("a site from 1 to {}", threads[slot].sites.len());
            *known.ok_or_else(|| DecodeFault::new(0, expected(), number))?
        };
        let thread = &mut threads[slot];
        let address_code = code & !FIRST_USE;
        if address_code >= CODES {
            return Err(DecodeFault::new(0, "a code from 0 to 14, or 16 to 30", code));
        }
        let addr = site.address(address_code, thread.previous, self.differences.next(address_code));
        site.learn(addr, thread.previous);
        thread.previous = addr;
        if first && number > 0 {
            thread.sites.push(site);
        } else if number > 0 {
            thread.sites[number - 1] = site;
        }
        Ok(site)
    }

    /// The site of a first use, with the predictor of the thread that last started using it.
    fn first_use(
        &mut self,
        number: usize,
        slot: usize,
        threads: &[ThreadDecoder],
    ) -> Result<SitePredictor, DecodeFault> {
        let at = self.first_uses.offset();
        let which = match self.first_uses.varint()? {
            0 => {
                let site = self.definition()?;
                self.defined.push((site, None));
                self.defined.len() - 1
            }
            line => usize::try_from(line - 1).unwrap_or(usize::MAX),
        };
        let Some((defined, user)) = self.defined.get_mut(which) else {
            let expected = format!("a site below {}", self.defined.len());
            return Err(DecodeFault::new(at, expected, which));
        };
        let site = match *user {
            Some((slot, index)) => threads[slot].sites[index],
            None => *defined,
        };
        if number == 0 {
            return Ok(site);
        }
        // Numbers are given in order of first use, so a file cannot make the table larger than the
        // number of first uses it contains.
        let next = threads[slot].sites.len();
        if number != next + 1 || self.remembered >= MAX_SITES {
            let expected = format!("site {} as the next new one", next + 1);
            return Err(DecodeFault::new(at, expected, number));
        }
        *user = Some((slot, next));
        self.remembered += 1;
        Ok(site)
    }

    fn definition(&mut self) -> Result<SitePredictor, DecodeFault> {
        let cursor = &mut self.definitions;
        let at = cursor.offset();
        // Successively defined sites are close in the code, so differences of program counters are
        // short.
        let before = self.defined.last().map_or(0, |(site, _)| site.pc);
        let pc = before.wrapping_add(cursor.signed()?.cast_unsigned());
        let [kind, size, flags] = [cursor.u8()?, cursor.u8()?, cursor.u8()?];
        let sane = AccessKind::from_code(kind).is_some()
            && (1..=64).contains(&size)
            && flags & !Flags::ALL.0 == 0;
        if sane {
            Ok(SitePredictor { pc, kind, size, flags, ..SitePredictor::default() })
        } else {
            let found = format!("kind {kind}, size {size}, flags {flags}");
            Err(DecodeFault::new(at, "kind 0 to 3, size 1 to 64, flags 0 to 15", found))
        }
    }
}
