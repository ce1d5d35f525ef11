//! Events of a chunk as one stream of numbers.
//!
//! ```text
//! event    tag u8 (index in `crate::events::SHAPES`), thread varint, rows since the previous
//!          event varint; then the numeric fields of the kind: addresses as signed difference to
//!          the previous address in the stream, others as varint; then, for kinds with a text,
//!          its length as varint and its bytes (UTF-8)
//! ```

use homenode_base::{put_varint, zigzag};

use crate::bytes::{Cursor, DecodeFault};
use crate::events::{self, FIELDS, SHAPES};
use crate::model::Event;

pub(crate) fn encode(list: &[(u32, Event)], out: &mut Vec<u8>) {
    let mut row = 0;
    let mut addr = 0u64;
    for (at, event) in list {
        let (tag, fields, text) = events::flatten(&event.what);
        let shape = &SHAPES[usize::from(tag)];
        out.push(tag);
        put_varint(out, u64::from(event.thread));
        put_varint(out, u64::from(at - row));
        row = *at;
        for (i, &field) in fields.iter().take(shape.numbers.len()).enumerate() {
            if shape.is_address(i) {
                put_varint(out, zigzag(field.wrapping_sub(addr).cast_signed()));
                addr = field;
            } else {
                put_varint(out, field);
            }
        }
        if shape.text {
            put_varint(out, text.len() as u64);
            out.extend_from_slice(text.as_bytes());
        }
    }
}

pub(crate) fn decode(
    bytes: &[u8],
    count: u32,
    rows: u32,
    out: &mut Vec<(u32, Event)>,
) -> Result<(), DecodeFault> {
    let mut cursor = Cursor::new(bytes);
    let mut row = 0u64;
    let mut addr = 0u64;
    for _ in 0..count {
        let start = cursor.offset();
        let tag = cursor.u8()?;
        let Some(shape) = SHAPES.get(usize::from(tag)) else {
            return Err(DecodeFault::new(start, format!("an event below {}", SHAPES.len()), tag));
        };
        let thread = cursor.varint()?;
        row = row.saturating_add(cursor.varint()?);
        let mut fields = [0; FIELDS];
        for (i, field) in fields.iter_mut().take(shape.numbers.len()).enumerate() {
            if shape.is_address(i) {
                addr = addr.wrapping_add(cursor.signed()?.cast_unsigned());
                *field = addr;
            } else {
                *field = cursor.varint()?;
            }
        }
        let text = if shape.text { text(&mut cursor)? } else { String::new() };
        let thread =
            u16::try_from(thread).map_err(|_| DecodeFault::new(start, "a thread", thread))?;
        let place = u32::try_from(row).ok().filter(|&row| row <= rows);
        let place =
            place.ok_or_else(|| DecodeFault::new(start, format!("a row up to {rows}"), row))?;
        let what = events::build(tag, fields, text)
            .ok_or_else(|| DecodeFault::new(start, "fields in range", format!("{fields:?}")))?;
        out.push((place, Event { thread, what }));
    }
    cursor.end()
}

fn text(cursor: &mut Cursor<'_>) -> Result<String, DecodeFault> {
    let start = cursor.offset();
    let length = cursor.varint()?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let bytes = cursor.take(length)?;
    String::from_utf8(bytes.to_vec())
        .map_err(|_| DecodeFault::new(start, "UTF-8 text", "other bytes"))
}
