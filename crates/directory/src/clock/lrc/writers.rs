//! Who has written words of a line of which memory does not know.

use homenode_base::ProcessorSet;

/// Nobody.
const NOBODY: u32 = u32::MAX;
/// Above the numbers of nodes: the place of a set.
const SET: u32 = 1 << 31;

/// The nodes whose copies have words that memory lacks, by the number of the line. So few have that
/// nobody else has to be looked at when it matters what was written.
#[derive(Debug, Default)]
pub(super) struct LineWriters<const WORDS: usize> {
    /// [`NOBODY`], a node if it is alone, or [`SET`] and the place of a set: nearly all lines have
    /// at most one writer.
    lines: Vec<u32>,
    sets: Vec<ProcessorSet<WORDS>>,
    /// Places of sets that no line has.
    free: Vec<u32>,
}

impl<const WORDS: usize> LineWriters<WORDS> {
    /// Whether a line has no writers.
    #[inline]
    pub(super) fn has_none(&self, line: u32) -> bool {
        self.line(line) == NOBODY
    }

    #[inline]
    fn line(&self, line: u32) -> u32 {
        self.lines.get(index(line)).copied().unwrap_or(NOBODY)
    }

    /// The writers of a line.
    pub(super) fn of(&self, line: u32) -> ProcessorSet<WORDS> {
        match Writers::of(self.line(line)) {
            Writers::Nobody => ProcessorSet::default(),
            Writers::One(node) => one(node),
            Writers::Set(place) => self.sets[index(place)],
        }
    }

    /// A node writes a word of its copy.
    pub(super) fn insert(&mut self, line: u32, node: u16) {
        let at = index(line);
        if self.lines.len() <= at {
            self.lines.resize(at + 1, NOBODY);
        }
        match Writers::of(self.lines[at]) {
            Writers::Nobody => self.lines[at] = u32::from(node),
            Writers::One(other) if other == node => {}
            Writers::One(other) => {
                let place = self.set(other);
                self.sets[index(place)].insert(node);
                self.lines[at] = SET | place;
            }
            Writers::Set(place) => self.sets[index(place)].insert(node),
        }
    }

    /// Makes a set with one node. Returns its place.
    fn set(&mut self, node: u16) -> u32 {
        if let Some(place) = self.free.pop() {
            self.sets[index(place)] = one(node);
            return place;
        }
        self.sets.push(one(node));
        u32::try_from(self.sets.len() - 1).unwrap_or(NOBODY)
    }

    /// A node sends what it wrote to memory.
    pub(super) fn remove(&mut self, line: u32, node: u16) {
        match Writers::of(self.line(line)) {
            Writers::One(writer) if writer == node => self.lines[index(line)] = NOBODY,
            Writers::Nobody | Writers::One(_) => {}
            Writers::Set(place) => {
                self.sets[index(place)].remove(node);
                if self.sets[index(place)].is_empty() {
                    self.lines[index(line)] = NOBODY;
                    self.free.push(place);
                }
            }
        }
    }
}

/// What is kept of a line.
enum Writers {
    Nobody,
    One(u16),
    /// Those of the set at this place.
    Set(u32),
}

impl Writers {
    #[inline]
    fn of(line: u32) -> Self {
        match u16::try_from(line) {
            Ok(node) => Self::One(node),
            Err(_) if line == NOBODY => Self::Nobody,
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
