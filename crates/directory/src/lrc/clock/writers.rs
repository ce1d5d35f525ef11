//! The nodes with writes of a line that memory lacks.

use homenode_base::ProcessorSet;

const NO_WRITERS: u32 = u32::MAX;
/// Flag above the numbers of nodes: the rest is the index of a set.
const SET: u32 = 1 << 31;

/// The nodes whose copies have words that memory lacks, by the number of the line. There are few of
/// them, so that only their frames have to be searched for writes.
#[derive(Debug, Default)]
pub(super) struct LineWriters<const WORDS: usize> {
    /// [`NO_WRITERS`], a single node, or [`SET`] and the index of a set: nearly all lines have at
    /// most one writer.
    lines: Vec<u32>,
    sets: Vec<ProcessorSet<WORDS>>,
    /// Indices of unused sets.
    free: Vec<u32>,
}

impl<const WORDS: usize> LineWriters<WORDS> {
    pub(super) fn has_none(&self, line: u32) -> bool {
        self.line(line) == NO_WRITERS
    }

    fn line(&self, line: u32) -> u32 {
        self.lines.get(index(line)).copied().unwrap_or(NO_WRITERS)
    }

    pub(super) fn of(&self, line: u32) -> ProcessorSet<WORDS> {
        match Writers::of(self.line(line)) {
            Writers::None => ProcessorSet::default(),
            Writers::One(node) => one(node),
            Writers::Set(place) => self.sets[index(place)],
        }
    }

    /// A node writes a word of its copy.
    pub(super) fn insert(&mut self, line: u32, node: u16) {
        let at = index(line);
        if self.lines.len() <= at {
            self.lines.resize(at + 1, NO_WRITERS);
        }
        match Writers::of(self.lines[at]) {
            Writers::None => self.lines[at] = u32::from(node),
            Writers::One(other) if other == node => {}
            Writers::One(other) => {
                let place = self.set(other);
                self.sets[index(place)].insert(node);
                self.lines[at] = SET | place;
            }
            Writers::Set(place) => self.sets[index(place)].insert(node),
        }
    }

    /// Makes a set with one node. Returns its index.
    fn set(&mut self, node: u16) -> u32 {
        if let Some(place) = self.free.pop() {
            self.sets[index(place)] = one(node);
            return place;
        }
        self.sets.push(one(node));
        u32::try_from(self.sets.len() - 1).unwrap_or(NO_WRITERS)
    }

    /// A node sends what it wrote to memory.
    pub(super) fn remove(&mut self, line: u32, node: u16) {
        match Writers::of(self.line(line)) {
            Writers::One(writer) if writer == node => self.lines[index(line)] = NO_WRITERS,
            Writers::None | Writers::One(_) => {}
            Writers::Set(place) => {
                self.sets[index(place)].remove(node);
                if self.sets[index(place)].is_empty() {
                    self.lines[index(line)] = NO_WRITERS;
                    self.free.push(place);
                }
            }
        }
    }
}

/// The decoded entry of a line.
enum Writers {
    None,
    One(u16),
    /// Those of the set at this index.
    Set(u32),
}

impl Writers {
    fn of(line: u32) -> Self {
        match u16::try_from(line) {
            Ok(node) => Self::One(node),
            Err(_) if line == NO_WRITERS => Self::None,
            Err(_) => Self::Set(line & !SET),
        }
    }
}

fn one<const WORDS: usize>(node: u16) -> ProcessorSet<WORDS> {
    let mut set = ProcessorSet::default();
    set.insert(node);
    set
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
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
        assert!(writers.sets.len() <= known.len(), "sets are used again");
    }
}
