//! Traces of ChampSim, decompressed: one record of 64 bytes an instruction, little-endian.
//!
//! | bytes | field |
//! |---|---|
//! | 0-7 | program counter |
//! | 8, 9 | whether it is a branch, whether it was taken: 0 or 1 |
//! | 10-15 | registers: 2 written, 4 read |
//! | 16-31 | 2 addresses written, 0 for none |
//! | 32-63 | 4 addresses read, 0 for none |
//!
//! Reads precede writes. The format has no sizes: a reference has one byte. Instructions without a
//! reference are counted in the gap of the next reference. There are no fetches, as the format
//! lacks the lengths of instructions. A file has the instructions of one processor: all references
//! belong to thread 0.

use homenode_base::{Access, AccessKind};

use super::parser::{BadLine, Entry, Parsed, ParserBuilder, RecordSink, Records};

pub(super) const ENTRY: Entry = Entry {
    name: "champsim",
    summary: "ChampSim: instructions of one processor, 64 bytes each (xz -dc FILE first)",
    source: "ChampSim, inc/trace_instruction.h, struct input_instr",
    extensions: &["champsimtrace", "champsim"],
    build: ParserBuilder::Records(RECORD_BYTES, || Box::new(Instructions { gap: 0 })),
};

const RECORD_BYTES: usize = 64;
const BRANCH: [usize; 2] = [8, 9];
const WRITTEN: [usize; 2] = [16, 24];
const READ: [usize; 4] = [32, 40, 48, 56];

struct Instructions {
    gap: u32,
}

impl Records for Instructions {
    fn record(&mut self, record: &[u8], sink: &mut dyn RecordSink) -> Parsed<()> {
        for at in BRANCH {
            if record[at] > 1 {
                let expected = "0 or 1: is the file still compressed, or of another kind?".into();
                return Err(
                    BadLine { column: at + 1, expected, found: record[at].to_string() }.into()
                );
            }
        }
        let reads = READ.map(|at| (AccessKind::Read, word(record, at)));
        let writes = WRITTEN.map(|at| (AccessKind::Write, word(record, at)));
        let before = self.gap;
        let mut made = 0u32;
        for (kind, addr) in reads.into_iter().chain(writes).filter(|(_, addr)| *addr != 0) {
            let access = Access { pc: word(record, 0), ..Access::new(0, kind, addr, 1) };
            let gap = if made == 0 { before } else { 0 };
            sink.access(&Access { gap, ..access })?;
            made += 1;
        }
        self.gap = if made == 0 { before.saturating_add(1) } else { 0 };
        Ok(())
    }
}

fn word(record: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&record[at..at + 8]);
    u64::from_le_bytes(bytes)
}
