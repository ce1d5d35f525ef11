//! Barrier episodes: which arrivals and departures of a trace belong together.

use rustc_hash::FxHashMap;

/// An episode of a barrier: from the first arrival to the last departure.
struct Episode {
    number: u64,
    /// Whether a process has left: later arrivals are in the next episode.
    leaving: bool,
}

/// The episodes of all barriers, numbered from 0 in the order of their first arrivals.
#[derive(Default)]
pub struct BarrierEpisodes {
    latest: FxHashMap<u64, Episode>,
    /// Arrivals so far, by episode.
    arrived: Vec<u32>,
    /// The episode that a process is in, by process and barrier.
    inside: FxHashMap<(usize, u64), u64>,
}

impl BarrierEpisodes {
    /// A process arrives at a barrier. Returns the number of the episode.
    pub fn arrive(&mut self, process: usize, barrier: u64) -> u64 {
        let next = self.arrived.len() as u64;
        let episode =
            self.latest.entry(barrier).or_insert(Episode { number: next, leaving: false });
        if episode.leaving {
            *episode = Episode { number: next, leaving: false };
        }
        let number = episode.number;
        if number == next {
            self.arrived.push(0);
        }
        self.arrived[usize::try_from(number).unwrap_or(0)] += 1;
        self.inside.insert((process, barrier), number);
        number
    }

    /// The episode that a process is in; `None` if it is not at the barrier.
    #[must_use]
    pub fn inside(&self, process: usize, barrier: u64) -> Option<u64> {
        self.inside.get(&(process, barrier)).copied()
    }

    /// A process leaves a barrier. Returns the number of the episode and its arrivals; `None` if
    /// the process arrived before the trace began.
    pub fn depart(&mut self, process: usize, barrier: u64) -> Option<(u64, u32)> {
        let number = self.inside.remove(&(process, barrier))?;
        if let Some(episode) = self.latest.get_mut(&barrier)
            && episode.number == number
        {
            episode.leaving = true;
        }
        Some((number, self.arrived[usize::try_from(number).unwrap_or(0)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successive_episodes_of_a_barrier_are_distinct() {
        let mut episodes = BarrierEpisodes::default();
        let barrier = 64;
        assert_eq!(episodes.depart(2, barrier), None, "it arrived before the trace began");
        assert_eq!(episodes.arrive(0, barrier), 0);
        assert_eq!(episodes.arrive(1, barrier), 0);
        assert_eq!(episodes.depart(0, barrier), Some((0, 2)));
        // Process 0 is at the barrier again before process 1 has left it, and once alone.
        assert_eq!(episodes.arrive(0, barrier), 1);
        assert_eq!(episodes.depart(1, barrier), Some((0, 2)));
        assert_eq!(episodes.arrive(1, barrier), 1);
        assert_eq!(episodes.depart(0, barrier), Some((1, 2)));
    }
}
