//! The nodes with writes of a line that memory lacks.

use homenode_base::ProcessorSet;
use rustc_hash::FxHashMap;

/// The nodes whose copies have words that memory lacks, by the number of the line. There are few of
/// them, so that only their frames have to be searched for writes.
#[derive(Debug, Default)]
pub(super) struct LineWriters<const WORDS: usize>(FxHashMap<u32, ProcessorSet<WORDS>>);

impl<const WORDS: usize> LineWriters<WORDS> {
    pub(super) fn has_none(&self, line: u32) -> bool {
        !self.0.contains_key(&line)
    }

    pub(super) fn of(&self, line: u32) -> ProcessorSet<WORDS> {
        self.0.get(&line).copied().unwrap_or_default()
    }

    /// A node writes a word of its copy.
    pub(super) fn insert(&mut self, line: u32, node: u16) {
        self.0.entry(line).or_default().insert(node);
    }

    /// A node sends what it wrote to memory.
    pub(super) fn remove(&mut self, line: u32, node: u16) {
        let Some(writers) = self.0.get_mut(&line) else { return };
        writers.remove(node);
        if writers.is_empty() {
            self.0.remove(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_base::Rng;

    #[test]
    fn every_line_has_its_own_writers() {
        let mut writers = LineWriters::<2>::default();
        let mut known = [ProcessorSet::<2>::default(); 9];
        let mut rng = Rng::new(11);
        for _ in 0..20_000 {
            let line = usize::try_from(rng.below(9)).unwrap();
            let node = u16::try_from(rng.below(3) * 40).unwrap();
            let number = u32::try_from(line).unwrap();
            if rng.below(2) == 0 {
                writers.insert(number, node);
                known[line].insert(node);
            } else {
                writers.remove(number, node);
                known[line].remove(node);
            }
            assert_eq!(writers.of(number), known[line]);
            assert_eq!(writers.has_none(number), known[line].is_empty());
        }
        let with_writers = known.iter().filter(|set| !set.is_empty()).count();
        assert_eq!(writers.0.len(), with_writers, "lines without writers take no memory");
    }
}
