//! Memory samples of Linux perf: lines of `perf script`, or of `perf mem report -D`.
//!
//! ```text
//!   prog 22945/22950 [000] 22817.498101: cpu/mem-loads,ldlat=30/P: 7f125bba7e06  5555555518d work
//!   prog 22945/22950 [000] 22817.498114: ibs_op//:  7f125bba7e06  68100142 |OP LOAD|LVL L1 hit|
//!         SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A  55555555518d work      (all in one line)
//!
//! # PID, TID, IP, ADDR, LOCAL WEIGHT, DSRC, SYMBOL
//! 22945,22950,0x55555555518d,0x7f125bba7e06,7,0x68100142,/bin/prog:work
//! ```
//!
//! perf prints fields in one order, whatever their order after `-F`: command, process/thread,
//! `[processor]`, time, period, event, address, data source, weight, program counter, physical
//! address; with `sym` a name follows each address. Thread, time, event, address and program
//! counter are required; the last may be at the head of a call chain. perf aligns numbers to 16
//! columns, which distinguishes them from names such as `facade`; where blanks were joined, numbers
//! are the words with a decimal digit. The data source distinguishes loads from stores, or else the
//! name of the event does (`load`, `store`, a breakpoint's `:w` or `:r`); a locked access is
//! atomic. Samples of neither kind, and those without an address, are counted and omitted.
//!
//! A sample has no size: it becomes a reference of one byte. Program counters in the upper half of
//! the address space belong to the kernel. `perf mem report -D` writes `0x016` before an address
//! unless it is given a separator with `-x`; the importer removes it.

use homenode_base::{Access, AccessKind, Flags};
use homenode_trace::{Metadata, TraceError};

use super::parser::{BadLine, Entry, Parsed, Parser, ParserBuilder, RecordSink};
use super::threads::Threads;
use super::token::{Token, Tokens};

pub(super) const ENTRY: Entry = Entry {
    name: "perf",
    summary: "Linux perf, sampled loads and stores: lines of perf script or perf mem report -D",
    source: "perf-script(1), perf-mem(1); tools/perf/builtin-script.c, builtin-mem.c of Linux 6.1",
    extensions: &["perf"],
    build: ParserBuilder::Lines(|| Box::new(Perf::default())),
};

#[derive(Default)]
struct Perf {
    threads: Threads,
    /// Columns of `perf mem report -D`, once its header was read.
    raw: Option<Vec<String>>,
    /// A sample whose program counter may be in the next line.
    pending: Option<Access>,
    samples: u64,
    /// Samples that are neither loads nor stores.
    without_kind: u64,
    without_address: u64,
}

/// The lowest program counter of the kernel, on every 64-bit machine of Linux.
const KERNEL: u64 = 1 << 63;
/// The lowest valid address: 0 means none, and Linux maps nothing in the first page.
const LOWEST: u64 = 0x1000;
const RAW_HEADER: &str = "# PID, TID, ";
const TIME: &str = "a time such as 123.456789: (perf script -F comm,pid,tid,time,event,addr,ip)";
const ADDRESS: &str = "an address and a program counter: perf record -d, and perf script -F \
                       comm,pid,tid,time,event,addr,ip";
/// Fewest digits of a program counter if it is the only number; weights are mostly shorter.
const COUNTER_DIGITS: usize = 5;
/// Digits that no weight has, which precedes the program counter; a physical address follows it.
const SURE_DIGITS: usize = 6;
/// Columns of a number that perf prints.
const ALIGNMENT: usize = 16;

impl Parser for Perf {
    fn line(&mut self, line: &str, sink: &mut dyn RecordSink) -> Parsed<()> {
        if line.starts_with(RAW_HEADER) {
            let names = line.trim_start_matches('#').split(',').map(|name| name.trim().to_owned());
            self.raw = Some(names.collect());
            return Ok(());
        }
        if line.starts_with('\t') {
            return self.frame(line, sink);
        }
        self.complete()?;
        if line.trim().is_empty() || line.starts_with('#') {
            return Ok(());
        }
        self.samples += 1;
        let sample = match &self.raw {
            Some(columns) => raw_sample(line, columns)?,
            None => script_sample(line)?,
        };
        let Some(kind) = sample.kind else {
            self.without_kind += 1;
            return Ok(());
        };
        if sample.addr < LOWEST {
            self.without_address += 1;
            return Ok(());
        }
        let (thread, _) = self.threads.number(sample.owner, sample.pid, sample.tid)?;
        let mut access = Access::new(thread, kind, sample.addr, 1);
        access.pid = sample.pid;
        self.pending = Some(access);
        if let Some(pc) = sample.pc {
            self.release_at(pc, sink)?;
        }
        Ok(())
    }

    fn finish(&mut self, _sink: &mut dyn RecordSink, metadata: &mut Metadata) -> Parsed<()> {
        self.complete()?;
        let left_out = self.without_kind + self.without_address;
        if left_out == self.samples {
            let expected = "samples that say load or store and have an address; record with -d \
                            and print with data_src where the event's name does not say it";
            let found = format!("{} samples, none of them such", self.samples);
            return Err(BadLine { column: 1, expected: expected.into(), found }.into());
        }
        metadata.sampling = "by perf: most references were not seen".into();
        metadata.order = "time stamps of samples".into();
        metadata.provenance.push(self.threads.note());
        for (count, why) in [
            (self.without_kind, "say neither load nor store"),
            (self.without_address, "have no address"),
        ] {
            if count > 0 {
                let note = format!("{count} of {} samples {why} and were left out", self.samples);
                metadata.provenance.push(note);
            }
        }
        Ok(())
    }
}

impl Perf {
    /// A line of a call chain; the first line has the program counter of the sample.
    fn frame(&mut self, line: &str, sink: &mut dyn RecordSink) -> Parsed<()> {
        let word = Tokens::new(line).need("a program counter")?;
        let pc = word.hex("a hexadecimal program counter")?;
        Ok(self.release_at(pc, sink)?)
    }

    fn release_at(&mut self, pc: u64, sink: &mut dyn RecordSink) -> Result<(), TraceError> {
        let Some(mut access) = self.pending.take() else { return Ok(()) };
        access.pc = pc;
        if pc >= KERNEL {
            access.flags = Flags::KERNEL;
        }
        sink.access(&access)
    }

    /// Fails if the last sample had only one number, which may be its program counter.
    fn complete(&self) -> Result<(), BadLine> {
        if self.pending.is_none() {
            return Ok(());
        }
        let expected = format!("{ADDRESS}; the sample before has one number, or no call chain");
        Err(BadLine { column: 1, expected, found: "another line".into() })
    }
}

struct Sample<'a> {
    owner: Token<'a>,
    pid: u32,
    tid: u64,
    kind: Option<AccessKind>,
    addr: u64,
    pc: Option<u64>,
}

fn script_sample(line: &str) -> Result<Sample<'_>, BadLine> {
    let mut words = Tokens::new(line);
    let mut before = Vec::new();
    // The command may contain blanks and numbers; only the time has this form.
    let time = words.by_ref().find(|word| {
        is_time(word.text) || {
            before.push(*word);
            false
        }
    });
    let Some(time) = time else {
        return Err(BadLine { column: 1, expected: TIME.into(), found: "none".into() });
    };
    let owner = before.iter().rev().find(|word| !word.text.starts_with('['));
    let owner = *owner.ok_or_else(|| time.bad("a command and a thread before the time"))?;
    let (pid, tid) = match owner.split('/') {
        Some((_, tid)) => (owner.before('/').decimal("a process")?, tid),
        None => (0, owner),
    };
    let tid = tid.decimal("a thread, or a process and a thread: 1234/1235")?;
    let mut event = words.need("an event and a colon")?;
    if event.text.bytes().all(|byte| byte.is_ascii_digit()) {
        // The period.
        event = words.need("an event and a colon")?;
    }
    let Some(name) = event.text.strip_suffix(':') else {
        return Err(event.bad("an event and a colon"));
    };
    let event_end = event.column + event.text.len();
    let place = words.need(ADDRESS)?;
    let addr = place.hex(ADDRESS)?;
    let aligned = is_aligned(place, event_end) && place.text.len() < ALIGNMENT;
    let (source, rest) = data_source(words.rest().text);
    let kind = source.map_or(DataSource::Nothing, kind_of_source);
    let kind = match kind {
        DataSource::Kind(kind) => Some(kind),
        DataSource::Hint => None,
        DataSource::Nothing => kind_of_event(name),
    };
    Ok(Sample { owner, pid, tid, kind, addr, pc: counter(rest, aligned) })
}

/// Seconds and their fraction with a colon: `22817.498101:`.
fn is_time(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = text.strip_suffix(':').and_then(|time| time.split_once('.'));
    parts.is_some_and(|(seconds, fraction)| digits(seconds) && digits(fraction))
}

/// Splits what follows the address into the text of the data source, and the rest, in which the
/// symbol may be called `operator|`.
fn data_source(text: &str) -> (Option<&str>, &str) {
    let Some(start) = text.find("|OP ") else { return (None, text) };
    let is_part = |at: usize| {
        let name = text.as_bytes().get(at + 1..at + 5);
        name.is_some_and(|name| name[..3].iter().all(u8::is_ascii_uppercase) && name[3] == b' ')
    };
    let last = text.rmatch_indices('|').map(|(at, _)| at).find(|&at| is_part(at));
    (Some(&text[start..]), &text[last.map_or(start, |at| at + 1)..])
}

/// Whether the blanks before a word fill perf's columns; `end` is where the word before ends.
fn is_aligned(word: Token<'_>, end: usize) -> bool {
    let blanks = word.column - end;
    word.text.len() >= ALIGNMENT || (blanks > 1 && blanks + word.text.len() >= ALIGNMENT)
}

/// The program counter among the words after the address.
fn counter(text: &str, aligned: bool) -> Option<u64> {
    let mut end = 1;
    let mut in_file_name = false;
    let mut short = None;
    for word in Tokens::new(text) {
        let blanks = std::mem::replace(&mut end, word.column + word.text.len());
        in_file_name |= word.text.starts_with('(');
        let skipped = in_file_name;
        in_file_name &= !word.text.contains(')');
        let number = if aligned {
            is_aligned(word, blanks)
        } else {
            word.text.bytes().any(|byte| byte.is_ascii_digit())
        };
        if skipped || !number || word.text.len() < COUNTER_DIGITS {
            continue;
        }
        match word.hex("") {
            Ok(value) if word.text.len() >= SURE_DIGITS => return Some(value),
            Ok(value) => short = Some(value),
            Err(_) => {}
        }
    }
    short
}

enum DataSource {
    Kind(AccessKind),
    /// A prefetch: no reference.
    Hint,
    Nothing,
}

/// A data source in words: `|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A`.
fn kind_of_source(text: &str) -> DataSource {
    let part = |name: &str| text.split('|').find_map(|part| part.trim().strip_prefix(name));
    let op = part("OP ").unwrap_or("");
    let bits = [("LOAD", LOAD), ("STORE", STORE), ("PFETCH", PREFETCH), ("EXEC", EXECUTE)];
    let bits = bits.iter().filter(|(name, _)| op.contains(name)).map(|(_, bit)| bit).sum();
    data_source_kind(bits, part("LCK ").is_some_and(|lock| lock.trim() == "Yes"))
}

// Bits of perf_mem_data_src::mem_op, and of mem_lock: include/uapi/linux/perf_event.h.
const LOAD: u64 = 2;
const STORE: u64 = 4;
const PREFETCH: u64 = 8;
const EXECUTE: u64 = 16;
const LOCK_SHIFT: u32 = 24;
const LOCKED: u64 = 2;

fn data_source_kind(op: u64, locked: bool) -> DataSource {
    match (op & LOAD != 0, op & STORE != 0) {
        (true, true) => DataSource::Kind(AccessKind::Atomic),
        (true, false) | (false, true) if locked => DataSource::Kind(AccessKind::Atomic),
        (true, false) => DataSource::Kind(AccessKind::Read),
        (false, true) => DataSource::Kind(AccessKind::Write),
        (false, false) if op & EXECUTE != 0 => DataSource::Kind(AccessKind::Fetch),
        (false, false) if op & PREFETCH != 0 => DataSource::Hint,
        (false, false) => DataSource::Nothing,
    }
}

fn kind_of_event(name: &str) -> Option<AccessKind> {
    let name = name.to_ascii_lowercase();
    if let Some(breakpoint) = name.strip_prefix("mem:") {
        return match breakpoint.split(':').nth(1) {
            Some("r") => Some(AccessKind::Read),
            Some("w") => Some(AccessKind::Write),
            _ => None,
        };
    }
    match (name.contains("load"), name.contains("store")) {
        (true, false) => Some(AccessKind::Read),
        (false, true) => Some(AccessKind::Write),
        _ => None,
    }
}

fn raw_sample<'a>(line: &'a str, columns: &[String]) -> Result<Sample<'a>, BadLine> {
    let start = line.len() - line.trim_start().len();
    // The character after the process number is the separator.
    let digit = |c: char| c.is_ascii_digit();
    let separator = line[start..].chars().find(|&c| !digit(c)).unwrap_or(' ');
    let mut words = Vec::new();
    let mut at = start;
    for text in line[start..].split(separator) {
        if !(text.is_empty() && separator == ' ') {
            words.push(Token { text, column: at + 1 });
        }
        at += text.len() + separator.len_utf8();
    }
    let column = |name: &str| {
        let place = columns.iter().position(|column| column == name);
        place.and_then(|place| words.get(place)).copied().ok_or_else(|| BadLine {
            column: line.len() + 1,
            expected: format!("the columns {}", columns.join(", ")),
            found: format!("{} values", words.len()),
        })
    };
    let owner = column("TID")?;
    let addr = column("ADDR")?;
    let source = column("DSRC")?.hex("a data source in hexadecimal")?;
    let kind = match data_source_kind(source & 0x1f, source >> LOCK_SHIFT & 3 == LOCKED) {
        DataSource::Kind(kind) => Some(kind),
        DataSource::Hint | DataSource::Nothing => None,
    };
    Ok(Sample {
        owner,
        pid: column("PID")?.decimal("a process")?,
        tid: owner.decimal("a thread")?,
        kind,
        addr: unpadded(addr).hex("a hexadecimal address")?,
        pc: Some(column("IP")?.hex("a hexadecimal program counter")?),
    })
}

/// An address without the `016` that perf writes instead of padding to sixteen digits.
fn unpadded(word: Token<'_>) -> Token<'_> {
    let padding = "0x016";
    let padded = word.text.len() == 18;
    if word.text.starts_with(padding) && !padded { word.skip(padding.len()) } else { word }
}
