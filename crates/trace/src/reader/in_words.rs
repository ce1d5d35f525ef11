//! The index of a trace with references counted in words, for a view of it without writing it.

use homenode_base::{AccessKind, Flags};

use crate::chunk::{COUNTED, ChunkInfo};
use crate::format::v1::ChunkHeader;
use crate::model::Batch;
use crate::turns::ThreadTurn;
use crate::words::WordSize;

/// The index entry of a chunk after its references, in the batch, are split into words.
pub(super) fn counted(chunk: &ChunkInfo, batch: &Batch, word: WordSize) -> ChunkInfo {
    let mut header = ChunkHeader { rows: 0, counts: [0; 6], ..chunk.header };
    let threads = chunk.threads.last().map_or(0, |&(last, _)| usize::from(last) + 1);
    let mut by_thread = vec![0u32; threads];
    // By kind and flags together, so that each row updates one count.
    let mut by_sort = [[0u32; FLAG_SETS]; 4];
    let (mut low, mut high) = (u64::MAX, 0);
    for ThreadTurn { thread, rows } in batch.turns.iter() {
        let places = batch.addr[rows.clone()].iter().zip(&batch.size[rows.clone()]);
        let sorts = batch.kind[rows.clone()].iter().zip(&batch.flags[rows]);
        let own = &mut by_thread[usize::from(thread)];
        for ((&addr, &size), (&kind, &flags)) in places.zip(sorts) {
            let last = addr.saturating_add(u64::from(size) - 1);
            let (words, first, last) = if kind == AccessKind::Fetch.code() {
                (1, addr, last)
            } else {
                let last = word.first_byte(last) + (word.bytes_u64() - 1);
                (u32::from(word.count(addr, size)), word.first_byte(addr), last)
            };
            (low, high) = (low.min(first), high.max(last));
            *own += words;
            by_sort[usize::from(kind & 3)][usize::from(flags & Flags::ALL.0)] += words;
        }
    }
    for (kind, by_flags) in by_sort.iter().enumerate() {
        for (flags, &words) in (0..).zip(by_flags) {
            header.rows += words;
            if let Some(count) = header.counts[..3].get_mut(kind) {
                *count += words;
            }
            for (counted, count) in COUNTED.into_iter().zip(&mut header.counts[3..]) {
                *count += if flags & counted != 0 { words } else { 0 };
            }
        }
    }
    (header.addr_low, header.addr_high) = if batch.is_empty() { (0, 0) } else { (low, high) };
    let table = (0..=u16::MAX).zip(by_thread).filter(|&(_, rows)| rows > 0).collect();
    ChunkInfo { bytes: chunk.bytes, ..ChunkInfo::new(chunk.offset, header, table) }
}

/// Number of values that flags have.
const FLAG_SETS: usize = Flags::ALL.0 as usize + 1;
