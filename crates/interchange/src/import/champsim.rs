//! Traces of ChampSim, decompressed: one record an instruction, little-endian, in one of two forms.
//!
//! | bytes | in CloudSuite traces | field |
//! |---|---|---|
//! | 0-7 | 0-7 | program counter |
//! | 8, 9 | 8, 9 | whether it is a branch, whether it was taken: 0 or 1 |
//! | 10-15 | 10-17 | registers: 2 (4) written, 4 read |
//! | 16-31 | 24-55 | 2 (4) addresses written, 0 for none |
//! | 32-63 | 56-87 | 4 addresses read, 0 for none |
//! | | 88, 89 | address space |
//!
//! ChampSim is told the form by an option; here the first records tell it. Reads precede writes.
//! The format has no sizes: a reference has one byte. Instructions without a reference are counted
//! in the gap of the next reference. There are no fetches, as the format lacks the lengths of
//! instructions. A file has the instructions of one processor: all references belong to thread 0.

use homenode_base::{Access, AccessKind};

use super::parser::{BadLine, Entry, Parsed, ParserBuilder, RecordSink, Records};

pub(super) const ENTRY: Entry = Entry {
    name: "champsim",
    summary: "ChampSim: instructions of one processor, 64 bytes each, or 96 of CloudSuite",
    source: "ChampSim, inc/trace_instruction.h, struct input_instr and cloudsuite_instr",
    extensions: &["champsimtrace", "champsim"],
    build: ParserBuilder::Records(|head| Box::new(Instructions { form: form(head), gap: 0 })),
};

/// Where a record has its fields.
struct RecordForm {
    bytes: usize,
    written: &'static [usize],
    read: &'static [usize],
    /// Bytes that are always 0, as no field is there.
    unused: &'static [usize],
}

const USUAL: RecordForm =
    RecordForm { bytes: 64, written: &[16, 24], read: &[32, 40, 48, 56], unused: &[] };
const CLOUDSUITE: RecordForm = RecordForm {
    bytes: 96,
    written: &[24, 32, 40, 48],
    read: &[56, 64, 72, 80],
    unused: &[18, 19, 20, 21, 22, 23, 90, 91, 92, 93, 94, 95],
};
const BRANCH: [usize; 2] = [8, 9];
/// Linux maps nothing in the first page.
const LOWEST: u64 = 0x1000;

/// The form that fits the first records of a file; where both or none do, the usual one.
fn form(head: &[u8]) -> &'static RecordForm {
    let fits = |form: &RecordForm| {
        let mut records = head.chunks_exact(form.bytes);
        records.len() > 0 && records.all(|record| form.fits(record))
    };
    if fits(&CLOUDSUITE) && !fits(&USUAL) { &CLOUDSUITE } else { &USUAL }
}

impl RecordForm {
    /// Whether the record is probably of this form: a prefetch may have a low address, but a file
    /// of the other form has many.
    fn fits(&self, record: &[u8]) -> bool {
        let mut addresses = self.written.iter().chain(self.read).map(|&at| word(record, at));
        check(record).is_ok()
            && self.unused.iter().all(|&at| record[at] == 0)
            && addresses.all(|addr| addr == 0 || addr >= LOWEST)
    }
}

struct Instructions {
    form: &'static RecordForm,
    gap: u32,
}

impl Records for Instructions {
    fn bytes(&self) -> usize {
        self.form.bytes
    }

    fn record(&mut self, record: &[u8], sink: &mut dyn RecordSink) -> Parsed<()> {
        check(record)?;
        let reads = self.form.read.iter().map(|&at| (AccessKind::Read, word(record, at)));
        let writes = self.form.written.iter().map(|&at| (AccessKind::Write, word(record, at)));
        let before = self.gap;
        let mut made = 0u32;
        for (kind, addr) in reads.chain(writes).filter(|(_, addr)| *addr != 0) {
            let access = Access { pc: word(record, 0), ..Access::new(0, kind, addr, 1) };
            let gap = if made == 0 { before } else { 0 };
            sink.access(&Access { gap, ..access })?;
            made += 1;
        }
        self.gap = if made == 0 { before.saturating_add(1) } else { 0 };
        Ok(())
    }
}

/// Checks what the records of both forms begin with.
fn check(record: &[u8]) -> Result<(), BadLine> {
    const OTHERWISE: &str = "is the file of another kind, or cut at the start?";
    let bad = |at: usize, expected: &str, found: String| {
        Err(BadLine { column: at + 1, expected: format!("{expected}: {OTHERWISE}"), found })
    };
    for at in BRANCH {
        if record[at] > 1 {
            return bad(at, "0 or 1", record[at].to_string());
        }
    }
    let [branch, taken] = BRANCH.map(|at| record[at]);
    if taken > branch {
        return bad(BRANCH[1], "0, as the instruction is no branch", taken.to_string());
    }
    let pc = word(record, 0);
    if pc < LOWEST {
        return bad(0, "a program counter from 0x1000", format!("{pc:#x}"));
    }
    Ok(())
}

fn word(record: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&record[at..at + 8]);
    u64::from_le_bytes(bytes)
}
