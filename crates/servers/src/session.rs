//! Sessions of a process on shared objects.

use homenode_base::Rng;

use crate::areas::{Area, Scatter};
use crate::odds::{Odds, rounded};
use crate::plan::Visits;
use crate::statistics::{Lengths, Sessions};
use crate::walk::Grain;
use crate::zipf::Zipf;

/// The process among those of its group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// Its number in the group.
    pub(crate) index: u64,
    /// Processes of the group.
    pub(crate) of: u64,
}

/// When a session ends.
enum Length {
    Geometric(Odds),
    Fixed(u64),
}

/// References to shared data.
pub(crate) struct SessionWalk<'a> {
    grain: Grain,
    area: Area,
    zipf: &'a Zipf,
    scatter: Scatter,
    visits: Visits,
    member: Member,
    object_blocks: u64,
    length: Length,
    own: Odds,
    /// The first block of the present object.
    object: u64,
    made: u64,
    more: bool,
}

impl<'a> SessionWalk<'a> {
    pub(crate) fn new(
        grain: Grain,
        area: Area,
        zipf: &'a Zipf,
        sessions: Sessions,
        visits: Visits,
        member: Member,
    ) -> Self {
        let length = match sessions.lengths {
            Lengths::Geometric => Length::Geometric(Odds::of_mean(sessions.accesses)),
            Lengths::Fixed => Length::Fixed(rounded(sessions.accesses)),
        };
        Self {
            grain,
            area,
            zipf,
            scatter: Scatter::new(zipf.ranks(), 1),
            visits,
            member,
            object_blocks: sessions.object_blocks,
            length,
            own: Odds::new(sessions.own_words / 100.0),
            object: 0,
            made: 0,
            more: false,
        }
    }

    /// The address of the next reference.
    pub(crate) fn next(&mut self, rng: &mut Rng) -> u64 {
        let due = self.visits.due();
        if let Some(visit) = due {
            self.visits.visited += 1;
            let block = visited_block(visit, self.member);
            if block < self.area.blocks {
                self.open(block - block % self.object_blocks);
                return self.touch(block * self.grain.words() + rng.below(self.grain.words()), rng);
            }
        }
        if !self.more {
            self.open(self.scatter.place(self.zipf.draw(rng)) * self.object_blocks);
        }
        let blocks = self.object_blocks.min(self.area.blocks - self.object);
        let words = blocks * self.grain.words();
        let own = self.own.happens(rng);
        let word = if own { self.member.index % words } else { rng.below(words) };
        self.touch(self.object * self.grain.words() + word, rng)
    }

    fn open(&mut self, object: u64) {
        self.object = object;
        self.made = 0;
    }

    fn touch(&mut self, word: u64, rng: &mut Rng) -> u64 {
        self.visits.made += 1;
        self.made += 1;
        self.more = match self.length {
            Length::Geometric(more) => more.happens(rng),
            Length::Fixed(length) => self.made < length,
        };
        self.grain.address(self.area, word)
    }
}

/// The block of the n-th visit of a process. Each block is visited by two processes, since a block
/// of one process is not shared; beyond the end of the area there is no block.
fn visited_block(visit: u64, member: Member) -> u64 {
    (visit / 2) * member.of + (member.index + visit % 2) % member.of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_visited_by_two_processes() {
        let (blocks, of) = (20, 7);
        let mut visitors = vec![Vec::new(); 20];
        for index in 0..of {
            for visit in 0..2 * u64::div_ceil(blocks, of) {
                let block = visited_block(visit, Member { index, of });
                if let Some(visitors) = visitors.get_mut(usize::try_from(block).unwrap()) {
                    visitors.push(index);
                }
            }
        }
        assert!(visitors.iter().all(|v| v.len() == 2 && v[0] != v[1]), "{visitors:?}");
    }
}
