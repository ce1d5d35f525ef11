//! The rare columns, gaps and process identities, stored thread by thread.

use homenode_base::{put_varint, zigzag};

use super::id;
use super::stream::{StreamWriter, Streams};
use super::turns::{Turn, starts};
use crate::bytes::{Cursor, DecodeFault};

/// Gap byte that refers to the stream of long gaps.
const LONG: u8 = u8::MAX;

/// The values of `column`, grouped by thread.
fn gather(column: &[u32], turns: &[Turn], table: &[(u16, u32)]) -> Vec<u32> {
    let mut at = starts(table);
    let mut out = vec![0; column.len()];
    for turn in turns {
        let place = &mut at[turn.slot()];
        out[*place..*place + turn.len()].copy_from_slice(&column[turn.range()]);
        *place += turn.len();
    }
    out
}

fn scatter(values: &[u32], turns: &[Turn], table: &[(u16, u32)], column: &mut Vec<u32>) {
    let mut at = starts(table);
    column.resize(values.len(), 0);
    for turn in turns {
        let place = &mut at[turn.slot()];
        column[turn.range()].copy_from_slice(&values[*place..*place + turn.len()]);
        *place += turn.len();
    }
}

pub(super) fn put_gaps(
    column: &[u32],
    turns: &[Turn],
    table: &[(u16, u32)],
    streams: &mut StreamWriter<'_>,
) {
    if column.iter().all(|&gap| gap == 0) {
        return;
    }
    let mut long = Vec::new();
    let mut short = Vec::with_capacity(column.len());
    for gap in gather(column, turns, table) {
        match u8::try_from(gap) {
            Ok(gap) if gap != LONG => short.push(gap),
            _ => {
                short.push(LONG);
                long.extend(gap.to_le_bytes());
            }
        }
    }
    streams.put(id::GAPS, &short);
    streams.put(id::LONG_GAPS, &long);
}

pub(super) fn get_gaps(
    streams: &Streams<'_>,
    turns: &[Turn],
    table: &[(u16, u32)],
    column: &mut Vec<u32>,
) -> Result<(), DecodeFault> {
    let rows: usize = turns.iter().map(|turn| turn.len()).sum();
    let mut short = Vec::new();
    let mut long = Vec::new();
    streams.get(id::GAPS, rows, &mut short)?;
    streams.get(id::LONG_GAPS, rows * 4, &mut long)?;
    if short.is_empty() {
        column.clear();
        column.resize(rows, 0);
        return Ok(());
    }
    if short.len() != rows {
        return Err(DecodeFault::new(0, format!("{rows} gaps"), short.len()));
    }
    let mut cursor = Cursor::new(&long);
    let mut values = Vec::with_capacity(rows);
    for gap in short {
        values.push(if gap == LONG { cursor.u32()? } else { u32::from(gap) });
    }
    cursor.end()?;
    scatter(&values, turns, table, column);
    Ok(())
}

pub(super) fn put_pids(
    column: &[u32],
    turns: &[Turn],
    table: &[(u16, u32)],
    streams: &mut StreamWriter<'_>,
) {
    if column.iter().all(|&pid| pid == 0) {
        return;
    }
    let mut out = Vec::new();
    let mut last = 0;
    for run in gather(column, turns, table).chunk_by(|a, b| a == b) {
        put_varint(&mut out, zigzag(i64::from(run[0]) - i64::from(last)));
        put_varint(&mut out, run.len() as u64);
        last = run[0];
    }
    streams.put(id::PIDS, &out);
}

pub(super) fn get_pids(
    streams: &Streams<'_>,
    turns: &[Turn],
    table: &[(u16, u32)],
    column: &mut Vec<u32>,
) -> Result<(), DecodeFault> {
    let rows: usize = turns.iter().map(|turn| turn.len()).sum();
    let mut bytes = Vec::new();
    streams.get(id::PIDS, rows * 10, &mut bytes)?;
    if bytes.is_empty() {
        column.clear();
        column.resize(rows, 0);
        return Ok(());
    }
    let mut cursor = Cursor::new(&bytes);
    let mut values = Vec::with_capacity(rows);
    let mut last = 0i64;
    while values.len() < rows {
        let at = cursor.offset();
        last = last.wrapping_add(cursor.signed()?);
        let pid =
            u32::try_from(last).map_err(|_| DecodeFault::new(at, "a pid below 2^32", last))?;
        let left = (rows - values.len()) as u64;
        let run = cursor.varint()?;
        if run == 0 || run > left {
            return Err(DecodeFault::new(at, format!("a run of 1 to {left} rows"), run));
        }
        // `run` is at most `left`, which came from a usize.
        values.resize(values.len() + usize::try_from(run).unwrap_or(0), pid);
    }
    cursor.end()?;
    scatter(&values, turns, table, column);
    Ok(())
}
