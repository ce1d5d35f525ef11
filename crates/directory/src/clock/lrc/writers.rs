//! Who has written words of a line of which memory does not know.

use homenode_base::ProcessorSet;

/// The nodes whose copies have words that memory lacks, by the number of the line. So few have that
/// nobody else has to be looked at when it matters what was written.
#[derive(Debug, Default)]
pub(super) struct LineWriters<const WORDS: usize>(Vec<ProcessorSet<WORDS>>);

impl<const WORDS: usize> LineWriters<WORDS> {
    /// The writers of a line.
    pub(super) fn of(&self, line: u32) -> ProcessorSet<WORDS> {
        self.0.get(index(line)).copied().unwrap_or_default()
    }

    /// A node writes a word of its copy.
    pub(super) fn insert(&mut self, line: u32, node: u16) {
        let line = index(line);
        if self.0.len() <= line {
            self.0.resize(line + 1, ProcessorSet::default());
        }
        self.0[line].insert(node);
    }

    /// A node sends what it wrote to memory.
    pub(super) fn remove(&mut self, line: u32, node: u16) {
        if let Some(writers) = self.0.get_mut(index(line)) {
            writers.remove(node);
        }
    }
}

fn index(line: u32) -> usize {
    usize::try_from(line).unwrap_or(usize::MAX)
}
