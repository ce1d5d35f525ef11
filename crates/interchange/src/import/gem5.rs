//! Packet traces of gem5 as its script `util/decode_packet_trace.py` prints them.
//!
//! ```text
//! [packet,]cmd,address,size,[flags,]tick[,pc]       all numbers decimal
//! r,4198400,64,256,1000
//! 17,w,140737488346112,8,0,2500,4199182
//! ```
//!
//! `cmd` is `r` for a read request, `w` for a write request and `u` for all other packets:
//! responses, write-backs, upgrades, swaps. These are counted and omitted. gem5's probe always
//! writes flags, and program counters only together with flags, so the number of fields determines
//! which are there. Of the flags of a request, 0x100 makes it an instruction fetch and 0x8000 (made
//! in privileged mode) the kernel's. A packet trace covers one port: all references belong to
//! thread 0.

use homenode_base::{Access, AccessKind, Flags};
use homenode_trace::Metadata;

use super::parser::{BadLine, Entry, Parsed, Parser, ParserBuilder, RecordSink, split_reference};
use super::token::Token;

pub(super) const ENTRY: Entry = Entry {
    name: "gem5",
    summary: "gem5: packets of one port, as util/decode_packet_trace.py prints them",
    source: "gem5, util/decode_packet_trace.py and src/mem/request.hh",
    extensions: &["gem5"],
    build: ParserBuilder::Lines(|| Box::new(Packets::default())),
};

#[derive(Default)]
struct Packets {
    packets: u64,
    others: u64,
}

// Bits of gem5's Request::Flags.
const INST_FETCH: u64 = 0x100;
const PRIVILEGED: u64 = 0x8000;
const FORM: &str = "[packet,]cmd,address,size,[flags,]tick[,pc]";

impl Parser for Packets {
    fn line(&mut self, line: &str, sink: &mut dyn RecordSink) -> Parsed<()> {
        if line.is_empty() {
            return Ok(());
        }
        let mut at = 0;
        let mut fields = Vec::with_capacity(7);
        for text in line.split(',') {
            fields.push(Token { text, column: at + 1 });
            at += text.len() + 1;
        }
        let is_number = |word: &Token<'_>| word.text.bytes().all(|byte| byte.is_ascii_digit());
        let fields = &fields[usize::from(fields.first().is_some_and(is_number))..];
        let (cmd, addr, size, flags, tick, pc) = match *fields {
            [cmd, addr, size, tick] => (cmd, addr, size, None, tick, None),
            [cmd, addr, size, flags, tick] => (cmd, addr, size, Some(flags), tick, None),
            [cmd, addr, size, flags, tick, pc] => (cmd, addr, size, Some(flags), tick, Some(pc)),
            _ => return Err(Token { text: line, column: 1 }.bad(FORM).into()),
        };
        let kind = match cmd.text {
            "r" => Some(AccessKind::Read),
            "w" => Some(AccessKind::Write),
            "u" => None,
            _ => return Err(cmd.bad("r, w or u").into()),
        };
        tick.decimal::<u64>("a tick")?;
        let flags = flags.map_or(Ok(0), |word| word.decimal::<u64>("flags, in decimal"))?;
        let bytes: u64 = size.decimal("a size in bytes")?;
        let addr = addr.decimal("an address, in decimal")?;
        let pc = pc.map_or(Ok(0), |word| word.decimal("a program counter, in decimal"))?;
        self.packets += 1;
        let Some(kind) = kind else {
            self.others += 1;
            return Ok(());
        };
        if bytes == 0 || bytes > 1 << 16 {
            return Err(size.bad("a size from 1 to 65536 bytes").into());
        }
        let kind = if flags & INST_FETCH == 0 { kind } else { AccessKind::Fetch };
        let mut access = Access { pc, ..Access::new(0, kind, addr, 0) };
        if flags & PRIVILEGED != 0 {
            access.flags = Flags::KERNEL;
        }
        Ok(split_reference(access, bytes, sink)?)
    }

    fn finish(&mut self, _sink: &mut dyn RecordSink, metadata: &mut Metadata) -> Parsed<()> {
        if self.packets == self.others {
            let expected =
                "read and write requests: put the monitor on the processor's side".into();
            let found = format!("{} packets, none of them such", self.packets);
            return Err(BadLine { column: 1, expected, found }.into());
        }
        if self.others > 0 {
            let (others, packets) = (self.others, self.packets);
            let note = format!("{others} of {packets} packets are no requests and were left out");
            metadata.provenance.push(note);
        }
        Ok(())
    }
}
