//! A view of a trace with references counted in words, without writing it.

use std::sync::Arc;

use homenode_base::{AccessKind, Flags};

use super::{ChunkInfo, TraceReader};
use crate::error::TraceError;
use crate::format::v1::ChunkHeader;
use crate::model::{Batch, ChunkOutline, Columns, Want};
use crate::words::WordSize;

/// The index of a trace with references counted in words.
#[derive(Debug)]
pub(super) struct CountedWords {
    pub(super) word: WordSize,
    pub(super) chunks: Vec<ChunkInfo>,
    pub(super) rows: u64,
    pub(super) references: u64,
}

impl TraceReader {
    /// The index entry of chunk `index`, with references counted in words. Its Time is the recorded
    /// one; [`TraceReader::in_words`] corrects it.
    ///
    /// # Errors
    /// When the chunk cannot be read or is damaged.
    ///
    /// # Panics
    /// When there is no such chunk.
    pub fn count_words(
        &self,
        index: usize,
        word: WordSize,
        batch: &mut Batch,
    ) -> Result<ChunkInfo, TraceError> {
        let columns = Columns { flags: true, ..Columns::default() };
        self.read_chunk(index, Want { columns, events: false }, batch)?;
        batch.flags.resize(batch.len(), 0);
        Ok(counted(&self.chunks()[index], batch, word))
    }

    /// The words in which references are counted; `None` for references as recorded.
    #[must_use]
    pub fn word_size(&self) -> Option<WordSize> {
        self.words.as_ref().map(|counted| counted.word)
    }

    /// The same trace with its data references counted in words: one reference of a word to each
    /// word that a reference of this trace touches ([`WordSize::split`]). `chunks` is what
    /// [`TraceReader::count_words`] gives for each chunk of this trace, in order. The checksum
    /// stays that of the recorded trace.
    #[must_use]
    pub fn in_words(&self, word: WordSize, mut chunks: Vec<ChunkInfo>) -> Self {
        let [mut rows, mut references] = [0, 0];
        for chunk in &mut chunks {
            chunk.first_time = references;
            rows += u64::from(chunk.rows);
            references += u64::from(chunk.references);
        }
        Self {
            source: Arc::clone(&self.source),
            columns: self.columns,
            chunk_rows: self.chunk_rows,
            chunks: Arc::clone(&self.chunks),
            metadata: Arc::clone(&self.metadata),
            footer: self.footer,
            words: Some(CountedWords { word, chunks, rows, references }),
        }
    }
}

/// The index entry of a chunk after its references, in the batch, are split into words.
fn counted(chunk: &ChunkInfo, batch: &Batch, word: WordSize) -> ChunkInfo {
    let mut header = ChunkHeader { rows: 0, counts: [0; 6], ..chunk.header };
    let threads = batch.thread.iter().max().map_or(0, |&last| usize::from(last) + 1);
    let mut by_thread = vec![0u32; threads];
    // By kind and flags together, so that each row updates one count.
    let mut by_sort = [[0u32; 8]; 4];
    let (mut low, mut high) = (u64::MAX, 0);
    let places = batch.addr.iter().zip(&batch.size);
    let sorts = batch.kind.iter().zip(&batch.flags);
    for ((&thread, (&addr, &size)), (&kind, &flags)) in batch.thread.iter().zip(places).zip(sorts) {
        let last = addr.saturating_add(u64::from(size) - 1);
        let (words, first, last) = if kind == AccessKind::Fetch.code() {
            (1, addr, last)
        } else {
            let last = word.first_byte(last) + (word.bytes_u64() - 1);
            (u32::from(word.count(addr, size)), word.first_byte(addr), last)
        };
        (low, high) = (low.min(first), high.max(last));
        by_thread[usize::from(thread)] += words;
        by_sort[usize::from(kind & 3)][usize::from(flags & 7)] += words;
    }
    for (kind, by_flags) in by_sort.iter().enumerate() {
        for (flags, &words) in (0..).zip(by_flags) {
            header.rows += words;
            if let Some(count) = header.counts[..3].get_mut(kind) {
                *count += words;
            }
            for (flag, count) in FLAGS.into_iter().zip(&mut header.counts[3..]) {
                *count += if Flags(flags).contains(flag) { words } else { 0 };
            }
        }
    }
    (header.addr_low, header.addr_high) = if batch.is_empty() { (0, 0) } else { (low, high) };
    let table = (0..=u16::MAX).zip(by_thread).filter(|&(_, rows)| rows > 0).collect();
    ChunkInfo { bytes: chunk.bytes, ..ChunkInfo::new(chunk.offset, header, table) }
}

/// Flags in the order of the counts of a chunk.
const FLAGS: [Flags; 3] = [Flags::PRIVATE, Flags::SYNC, Flags::KERNEL];

/// The turns and events of a batch.
pub(super) fn outline(batch: Batch) -> ChunkOutline {
    let turn = |rows: &[u16]| (rows[0], u32::try_from(rows.len()).unwrap_or(u32::MAX));
    let turns = batch.thread.chunk_by(|a, b| a == b).map(turn).collect();
    ChunkOutline { turns, events: batch.events }
}
