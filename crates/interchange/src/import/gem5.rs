//! Packet traces of gem5 as its script `util/decode_packet_trace.py` prints them.
//!
//! ```text
//! [packet,]cmd,address,size,[flags,]tick[,pc]       all numbers decimal
//! r,4198400,64,256,1000
//! 17,w,140737488346112,8,0,2500,4199182
//!
//! # a comment                                       the form planned at the end of 2025
//! tick,cmd,addr,size,flags,pkt_id,pc                names of the columns, also after #
//! 1000,1,4198400,64,256,,
//! ```
//!
//! `cmd` is `r` for a read request, `w` for a write request and `u` for all other packets:
//! responses, write-backs, upgrades, swaps. These are counted and omitted. Where columns have
//! names, it is the number of the command, 1 for a read and 4 for a write request, or its name.
//! gem5's probe always writes flags, and program counters only together with flags, so without
//! names the number of fields determines which are there. Of the flags of a request, 0x100 makes it
//! an instruction fetch and 0x8000 (made in privileged mode) the kernel's. A packet trace covers
//! one port: all references belong to thread 0.

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
    /// Names of the columns, if a line has them.
    columns: Vec<String>,
    packets: u64,
    others: u64,
}

// Bits of gem5's Request::Flags.
const INST_FETCH: u64 = 0x100;
const PRIVILEGED: u64 = 0x8000;
const NAMES: &[&str] = &["tick", "cmd", "addr", "size", "flags", "pkt_id", "pc"];
const FORM: &str = "[packet,]cmd,address,size,[flags,]tick[,pc]";

impl Parser for Packets {
    fn line(&mut self, line: &str, sink: &mut dyn RecordSink) -> Parsed<()> {
        if line.is_empty() || self.names(line) || line.starts_with('#') {
            return Ok(());
        }
        let fields = fields(line);
        let packet = if self.columns.is_empty() {
            positional(line, &fields)?
        } else {
            self.named(line, &fields)?
        };
        packet.tick.decimal::<u64>("a tick")?;
        let flags = packet.flags.map_or(Ok(0), |word| word.decimal::<u64>("flags, in decimal"))?;
        let bytes: u64 = packet.size.decimal("a size in bytes")?;
        let addr = packet.addr.decimal("an address, in decimal")?;
        let pc = packet.pc.map_or(Ok(0), |word| word.decimal("a program counter, in decimal"))?;
        self.packets += 1;
        let Some(kind) = packet.kind else {
            self.others += 1;
            return Ok(());
        };
        if bytes == 0 || bytes > 1 << 16 {
            return Err(packet.size.bad("a size from 1 to 65536 bytes").into());
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

/// The fields of a packet; `kind` is None for a packet that is no request.
struct PacketFields<'a> {
    kind: Option<AccessKind>,
    addr: Token<'a>,
    size: Token<'a>,
    flags: Option<Token<'a>>,
    tick: Token<'a>,
    pc: Option<Token<'a>>,
}

impl Packets {
    /// Takes the names of the columns, if the line has them.
    fn names(&mut self, line: &str) -> bool {
        let names =
            line.trim_start_matches(['#', ' ']).split(',').map(|name| name.trim().to_owned());
        let names: Vec<String> = names.collect();
        let are_names = names.len() > 1 && names.iter().all(|name| NAMES.contains(&name.as_str()));
        if are_names {
            self.columns = names;
        }
        are_names
    }

    fn named<'a>(&self, line: &str, fields: &[Token<'a>]) -> Result<PacketFields<'a>, BadLine> {
        let whole = Token { text: line, column: 1 };
        if fields.len() != self.columns.len() {
            return Err(whole.bad(&format!("the columns {}", self.columns.join(","))));
        }
        let find = |name: &str| {
            let place = self.columns.iter().position(|column| column == name);
            place.map(|place| fields[place]).filter(|field| !field.text.is_empty())
        };
        let need = |name: &str| find(name).ok_or_else(|| whole.bad(&format!("a value for {name}")));
        let cmd = need("cmd")?;
        let kind = match cmd.text {
            "1" | "r" | "ReadReq" => Some(AccessKind::Read),
            "4" | "w" | "WriteReq" => Some(AccessKind::Write),
            text if text.bytes().all(|byte| byte.is_ascii_alphanumeric()) => None,
            _ => return Err(cmd.bad("the number or the name of a command")),
        };
        Ok(PacketFields {
            kind,
            addr: need("addr")?,
            size: need("size")?,
            flags: find("flags"),
            tick: need("tick")?,
            pc: find("pc"),
        })
    }
}

fn fields(line: &str) -> Vec<Token<'_>> {
    let mut at = 0;
    let mut fields = Vec::with_capacity(NAMES.len());
    for text in line.split(',') {
        fields.push(Token { text, column: at + 1 });
        at += text.len() + 1;
    }
    fields
}

fn positional<'a>(line: &str, fields: &[Token<'a>]) -> Result<PacketFields<'a>, BadLine> {
    let is_number = |word: &Token<'_>| word.text.bytes().all(|byte| byte.is_ascii_digit());
    let fields = &fields[usize::from(fields.first().is_some_and(is_number))..];
    let (cmd, addr, size, flags, tick, pc) = match *fields {
        [cmd, addr, size, tick] => (cmd, addr, size, None, tick, None),
        [cmd, addr, size, flags, tick] => (cmd, addr, size, Some(flags), tick, None),
        [cmd, addr, size, flags, tick, pc] => (cmd, addr, size, Some(flags), tick, Some(pc)),
        _ => return Err(Token { text: line, column: 1 }.bad(FORM)),
    };
    let kind = match cmd.text {
        "r" => Some(AccessKind::Read),
        "w" => Some(AccessKind::Write),
        "u" => None,
        _ => return Err(cmd.bad("r, w or u")),
    };
    Ok(PacketFields { kind, addr, size, flags, tick, pc })
}
