//! The output of DynamoRIO's trace viewer: `drrun -t drmemtrace -tool view -indir DIR`, on standard
//! error.
//!
//! ```text
//! Output format:
//! <--record#-> <--instr#->: <---tid---> <record details>
//! ------------------------------------------------------------
//!            1           0:     2765543 <marker: version 5>
//!            7           0:     2765543 <marker: tid 2765543 on core 9>
//!            8           1:     2765543 ifetch       5 byte(s) @ 0x0000000000404a7e 48 8b 5c ..
//!            9           1:     2765543 read         8 byte(s) @ 0x00007fdf64e2adc8 by PC 0x..
//!           10           1:     2765543 write        4 byte(s) @ 0x00007fdf64e2ad10 by PC 0x..
//!           11           1:     2765543 <thread 2765543 exited>
//! View tool results:
//! ```
//!
//! Threads are called `W0.T2765543` since 2025 and `T2765543` before 2023. The form of release 9
//! has no numbers of instructions, no `ifetch` with a size, and no program counters of data:
//!
//! ```text
//!        7: T2765543   0x0000000000404a7e  48 8b 5c 24 08       mov    0x08(%rsp)[8byte] -> %rbx
//!        8: T2765543     read  8 byte(s) @ 0x7fdf64e2adc8
//! ```
//!
//! The order is that of the view, which interleaves threads by their time stamps. Threads are
//! numbered in order of appearance. Markers become events: system calls and thread ends have events
//! of their own, all others become markers with the text of the view. References between the start
//! and the end of a kernel trace are flagged as the kernel's. A read and a write of an instruction
//! with the prefix `lock`, or of `xchg`, are one atomic reference. The later rounds of an
//! instruction with a repeat prefix are listed as instructions, but are not fetched again: the
//! view calls them so, or repeats the number of the instruction, or (release 9) only the line.
//! Prefetches and flushes are hints, not references: they are counted and omitted. Several
//! workloads in one view (`W1.T42`) are several processes, numbered from 1.

use homenode_base::{Access, AccessKind, Flags};
use homenode_trace::{Event, EventKind, Metadata, TraceError};

use super::parser::{
    BadLine, Entry, MAX_SIZE, Parsed, Parser, ParserBuilder, RecordSink, split_reference,
};
use super::threads::Threads;
use super::token::{Token, Tokens};

pub(super) const ENTRY: Entry = Entry {
    name: "drmemtrace",
    summary: "DynamoRIO: what drrun -t drmemtrace -tool view prints, instructions and markers too",
    source: "DynamoRIO documentation, \"Trace Format\" and \"View Tool\" (releases 9 to 11)",
    extensions: &["drmemtrace"],
    build: ParserBuilder::Lines(|| Box::new(DrmemtraceView::default())),
};

#[derive(Default)]
struct DrmemtraceView {
    threads: Threads,
    state: Vec<ViewThread>,
    /// The read of an atomic instruction, until its write is read.
    pending: Option<Access>,
    /// An instruction whose encoding, which tells its size, may go on in the next line.
    unsized_fetch: Option<UnsizedFetch>,
    /// Whether the records have ended; the totals follow.
    ended: bool,
    hints: u64,
    /// Lowest and highest time stamp, in microseconds.
    times: Option<(u64, u64)>,
}

#[derive(Clone, Copy, Default)]
struct ViewThread {
    /// Whether it is within a kernel trace.
    kernel: bool,
    atomic: bool,
    /// The system call that it has not returned from, if any.
    call: Option<u32>,
    /// Its last instruction.
    last: Option<Instruction>,
}

/// An instruction of a thread: later rounds of a repeated one are equal to the first.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Instruction {
    pc: u64,
    /// None in the form of release 9.
    number: Option<u64>,
}

/// An instruction of release 9.
struct UnsizedFetch {
    access: Access,
    /// Bytes so far.
    bytes: u64,
}

/// What a line says before its record.
struct Prefix<'a> {
    instruction: Option<u64>,
    owner: Token<'a>,
}

/// Prefixes of the view's lines that are not records.
const NOT_RECORDS: &[&str] = &["Output format:", "<", "---", "==="];
/// The line before the totals.
const END: &str = "View tool results:";
/// Prefixes of the names of records that are hints.
const HINTS: &[&str] = &["pref", "iflush", "dflush"];
/// Markers that some releases print without `>`.
const UNCLOSED: &[&str] = &["skipped memref ", "current thread going unscheduled"];
const RECORD: &str = "ifetch, read, write, a marker or another record of the view";

impl Parser for DrmemtraceView {
    fn line(&mut self, line: &str, sink: &mut dyn RecordSink) -> Parsed<()> {
        self.ended |= line.starts_with(END);
        let text = line.trim_start_matches([' ', '\t']);
        if self.ended || text.is_empty() || NOT_RECORDS.iter().any(|start| text.starts_with(start))
        {
            return Ok(());
        }
        let mut words = Tokens::new(line);
        let Prefix { instruction, owner } = prefix(&mut words)?;
        let what = words.need(RECORD)?;
        if owner.text.starts_with('-') || owner.text.starts_with("W-") {
            // An idle or waiting processor without a thread.
            return Ok(());
        }
        let encoding = Tokens::new(&line[what.column - 1..]);
        if let Some(bytes) = encoding_bytes(encoding) {
            // The bytes of a long instruction continue in a line of their own.
            self.unsized_fetch.iter_mut().for_each(|fetch| fetch.bytes += bytes);
            return Ok(());
        }
        self.emit_fetch(sink)?;
        let (thread, pid) = self.thread(owner, sink)?;
        let access = Access { pid, ..Access::new(thread, AccessKind::Read, 0, 0) };
        self.record(access, instruction, what, line, sink)
    }

    fn finish(&mut self, sink: &mut dyn RecordSink, metadata: &mut Metadata) -> Parsed<()> {
        self.emit_fetch(sink)?;
        self.emit_pending(sink)?;
        metadata.provenance.push(self.threads.note());
        if self.hints > 0 {
            let note = format!("{} prefetches and flushes were left out", self.hints);
            metadata.provenance.push(note);
        }
        metadata.wall_time_s = self.times.map(|(first, last)| {
            #[expect(clippy::cast_precision_loss, reason = "seconds for people")]
            let microseconds = (last - first) as f64;
            microseconds / 1e6
        });
        Ok(())
    }
}

impl DrmemtraceView {
    fn thread(&mut self, word: Token<'_>, sink: &mut dyn RecordSink) -> Parsed<(u16, u32)> {
        let what = "a thread: 1234, or W0.T1234 with several workloads";
        let (pid, id) = match word.text.strip_prefix('W').and_then(|_| word.split('.')) {
            None if word.text.starts_with('T') => (0, word.skip(1)),
            None => (0, word),
            Some((_, thread)) if !thread.text.starts_with('T') => {
                return Err(word.bad(what).into());
            }
            Some((_, thread)) => {
                let workload = word.before('.').skip(1).decimal::<u32>(what)?;
                (workload.checked_add(1).ok_or_else(|| word.bad(what))?, thread.skip(1))
            }
        };
        let (number, new) = self.threads.number(word, pid, id.decimal(what)?)?;
        if new {
            self.state.push(ViewThread::default());
            let what = EventKind::ThreadStart { stack_low: 0, stack_high: 0 };
            sink.event(Event { thread: number, what })?;
        }
        Ok((number, pid))
    }

    fn record(
        &mut self,
        access: Access,
        instruction: Option<u64>,
        what: Token<'_>,
        line: &str,
        sink: &mut dyn RecordSink,
    ) -> Parsed<()> {
        let kind = match what.text {
            "ifetch" => AccessKind::Fetch,
            "non-fetched" => AccessKind::Fetch,
            "read" => AccessKind::Read,
            "write" => AccessKind::Write,
            text if HINTS.iter().any(|hint| text.starts_with(hint)) => {
                self.hints += 1;
                return Ok(());
            }
            "<marker:" => return self.marker(access.thread, line, what, sink),
            "<thread" => {
                self.returned(access.thread, sink)?;
                let what = EventKind::ThreadExit;
                return Ok(sink.event(Event { thread: access.thread, what })?);
            }
            "<entry" => return Ok(()),
            text if instruction.is_none() && text.starts_with("0x") => {
                return self.fetch_unsized(access, what, line, sink);
            }
            _ => return Err(what.bad(RECORD).into()),
        };
        let mut words = Tokens::new(&line[what.column - 1 + what.text.len()..]);
        let place = address_and_size(&mut words).map_err(|bad| after(bad, what))?;
        let mut access = Access { kind, addr: place.addr, ..access };
        if kind == AccessKind::Fetch {
            access.pc = access.addr;
            let name = Mnemonic::of(&mut words);
            if what.text == "non-fetched" || !self.is_fetched(access, instruction, &name) {
                return Ok(self.returned(access.thread, sink)?);
            }
        } else if instruction.is_none() && words.clone().next().is_none() {
            let last = self.state[usize::from(access.thread)].last;
            access.pc = last.map_or(0, |last| last.pc);
        } else {
            access.pc = counter(&mut words).map_err(|bad| after(bad, what))?;
        }
        self.reference(access, place.bytes, sink)
    }

    /// Notes an instruction, and says whether the processor fetches it.
    fn is_fetched(&mut self, access: Access, number: Option<u64>, name: &Mnemonic) -> bool {
        let this = Instruction { pc: access.pc, number };
        let state = &mut self.state[usize::from(access.thread)];
        let again = state.last.replace(this) == Some(this);
        state.atomic = name.atomic;
        let may_be_a_jump_to_itself = number.is_none() && !name.repeated;
        !name.not_fetched && (!again || may_be_a_jump_to_itself)
    }

    /// An instruction of release 9: its address, encoding and disassembly.
    fn fetch_unsized(
        &mut self,
        access: Access,
        addr: Token<'_>,
        line: &str,
        sink: &mut dyn RecordSink,
    ) -> Parsed<()> {
        let pc = addr.hex("a hexadecimal address")?;
        let access = Access { kind: AccessKind::Fetch, addr: pc, pc, ..access };
        let mut words = Tokens::new(&line[addr.column - 1 + addr.text.len()..]);
        let bytes = words.clone().take_while(encoded).map(|word| word.text.len() as u64 / 2).sum();
        if bytes == 0 {
            return Err(addr.bad("an address with the bytes of its instruction").into());
        }
        if self.is_fetched(access, None, &Mnemonic::of(&mut words)) {
            self.unsized_fetch = Some(UnsizedFetch { access, bytes });
            return Ok(());
        }
        Ok(self.returned(access.thread, sink)?)
    }

    fn emit_fetch(&mut self, sink: &mut dyn RecordSink) -> Parsed<()> {
        match self.unsized_fetch.take() {
            Some(UnsizedFetch { access, bytes }) => self.reference(access, bytes, sink),
            None => Ok(()),
        }
    }

    fn reference(
        &mut self,
        mut access: Access,
        bytes: u64,
        sink: &mut dyn RecordSink,
    ) -> Parsed<()> {
        self.returned(access.thread, sink)?;
        let state = self.state[usize::from(access.thread)];
        if state.kernel {
            access.flags = Flags::KERNEL;
        }
        access.size = u8::try_from(bytes).unwrap_or(u8::MAX);
        if let Some(read) = self.pending {
            if access == (Access { kind: AccessKind::Write, ..read }) {
                self.pending = None;
                return Ok(sink.access(&Access { kind: AccessKind::Atomic, ..read })?);
            }
            self.emit_pending(sink)?;
        }
        if state.atomic && access.kind == AccessKind::Read && bytes <= MAX_SIZE {
            self.pending = Some(access);
            return Ok(());
        }
        Ok(split_reference(access, bytes, sink)?)
    }

    /// Emits a pending read whose write is missing.
    fn emit_pending(&mut self, sink: &mut dyn RecordSink) -> Result<(), TraceError> {
        self.pending.take().map_or(Ok(()), |read| sink.access(&read))
    }

    /// Emits the end of the thread's system call, as the thread runs outside the kernel again.
    fn returned(&mut self, thread: u16, sink: &mut dyn RecordSink) -> Result<(), TraceError> {
        let state = &mut self.state[usize::from(thread)];
        if state.kernel {
            return Ok(());
        }
        let Some(number) = state.call.take() else { return Ok(()) };
        self.emit_pending(sink)?;
        sink.event(Event { thread, what: EventKind::SyscallExit { number } })
    }

    fn marker(
        &mut self,
        thread: u16,
        line: &str,
        first: Token<'_>,
        sink: &mut dyn RecordSink,
    ) -> Parsed<()> {
        self.emit_pending(sink)?;
        let rest = &line[first.column - 1 + first.text.len()..];
        let column = line.len() - rest.trim_start().len() + 1;
        let rest = Token { text: rest.trim(), column };
        let unclosed = UNCLOSED.iter().any(|name| rest.text.starts_with(name));
        let end = if unclosed { Some(rest.text.trim_end_matches('>')) } else { None };
        let Some(text) = rest.text.strip_suffix('>').or(end) else {
            return Err(rest.bad("the text of a marker and >").into());
        };
        let number = |prefix: &str| {
            let digits = text.strip_prefix(prefix)?;
            Some(Token { text: digits.trim(), column: rest.column + prefix.len() })
        };
        if let Some(call) = number("system call ").filter(|word| !word.text.contains(' ')) {
            self.returned(thread, sink)?;
            let number = call.decimal("the number of a system call")?;
            self.state[usize::from(thread)].call = Some(number);
            return Ok(sink.event(Event { thread, what: EventKind::SyscallEnter { number } })?);
        }
        if let Some(time) = number("timestamp ") {
            let time: u64 = time.decimal("a time in microseconds")?;
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
        } else if text.starts_with("trace start for ") {
            self.state[usize::from(thread)].kernel = true;
        } else if text.starts_with("trace end for ") {
            self.state[usize::from(thread)].kernel = false;
        }
        let what = EventKind::Marker { text: text.to_owned() };
        Ok(sink.event(Event { thread, what })?)
    }
}

fn prefix<'a>(words: &mut Tokens<'a>) -> Result<Prefix<'a>, BadLine> {
    let record = words.need("the number of a record")?;
    if record.text.ends_with(':') {
        // Release 9.
        record.before(':').decimal::<u64>("the number of a record")?;
        let owner = words.need("a thread")?;
        return Ok(Prefix { instruction: None, owner });
    }
    record.decimal::<u64>("the number of a record")?;
    let instruction = words.need("the number of an instruction and a colon")?;
    if !instruction.text.ends_with(':') {
        return Err(instruction.bad("the number of an instruction and a colon"));
    }
    let instruction = instruction.before(':').decimal("the number of an instruction")?;
    Ok(Prefix { instruction: Some(instruction), owner: words.need("a thread")? })
}

/// Bytes that an instruction references: more of them than one reference of a trace may have.
struct Referenced {
    addr: u64,
    bytes: u64,
}

fn address_and_size(words: &mut Tokens<'_>) -> Result<Referenced, BadLine> {
    let size = words.need("a size in bytes")?;
    let bytes: u64 = size.decimal("a size in bytes")?;
    if bytes == 0 || bytes > 1 << 16 {
        return Err(size.bad("a size from 1 to 65536 bytes"));
    }
    for expected in ["byte(s)", "@"] {
        let word = words.need(expected)?;
        if word.text != expected {
            return Err(word.bad(expected));
        }
    }
    let addr = words.need("a hexadecimal address")?.hex("a hexadecimal address")?;
    Ok(Referenced { addr, bytes })
}

/// The program counter of a data reference: `by PC 0x0000000000404a7e`.
fn counter(words: &mut Tokens<'_>) -> Result<u64, BadLine> {
    for expected in ["by", "PC"] {
        let word = words.need(expected)?;
        if word.text != expected {
            return Err(word.bad(expected));
        }
    }
    let pc = words.need("a program counter")?.hex("a hexadecimal program counter")?;
    words.end()?;
    Ok(pc)
}

/// What matters of the words that follow the address of an instruction.
struct Mnemonic {
    /// It has the prefix `lock`, or is `xchg`, which needs none.
    atomic: bool,
    /// It has a repeat prefix.
    repeated: bool,
    not_fetched: bool,
}

impl Mnemonic {
    fn of(words: &mut Tokens<'_>) -> Self {
        let mut found = Self { atomic: false, repeated: false, not_fetched: false };
        for word in words.skip_while(encoded) {
            match word.text {
                "lock" | "xchg" => found.atomic = true,
                "xacquire" | "xrelease" | "data16" | "addr16" | "addr32" | "bnd" => continue,
                text if text.starts_with("rep") => found.repeated = true,
                text => found.not_fetched = text == "non-fetched",
            }
            break;
        }
        found
    }
}

/// Whether a word is a part of an instruction's encoding: a byte, or four in one number.
fn encoded(word: &Token<'_>) -> bool {
    matches!(word.text.len(), 2 | 8) && word.hex("").is_ok()
}

/// The bytes of an encoding; None if there are other words.
fn encoding_bytes(mut words: Tokens<'_>) -> Option<u64> {
    words.try_fold(0, |bytes, word| encoded(&word).then(|| bytes + word.text.len() as u64 / 2))
}

/// An error in the part of a line after `word`, with its column in the line.
fn after(bad: BadLine, word: Token<'_>) -> BadLine {
    BadLine { column: bad.column + word.column - 1 + word.text.len(), ..bad }
}
