//! The best choice of false sharing intervals (thesis section 7.1.2), found exactly.
//!
//! The thesis leaves open how to choose intervals: there are exponentially many sets of them. But
//! an interval affects what follows only through the place at which its copies are merged, and
//! depends on what precedes only through the place where the block was. So a shortest path over
//! (visit, place) finds the best set. `docs/sharing.md` has the argument in full.

use super::region_processors::RegionProcessors;

/// Consecutive references to the block by one processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visit {
    pub proc: u16,
    pub writes: bool,
    /// An interval that holds this visit must not begin before this visit, counted from 0.
    pub since: u32,
}

/// A distance in the graph: the least transfers after which the block can have its only copy at any
/// of these places. One transfer more brings it to any other place.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Distance<const W: usize> {
    transfers: u64,
    places: RegionProcessors<W>,
}

impl<const W: usize> Distance<W> {
    const NEVER: Self = Self { transfers: u64::MAX, places: RegionProcessors::NONE };

    fn or(self, other: Self) -> Self {
        match self.transfers.cmp(&other.transfers) {
            std::cmp::Ordering::Less => self,
            std::cmp::Ordering::Greater => other,
            std::cmp::Ordering::Equal => Self { places: self.places.union(&other.places), ..self },
        }
    }

    fn replicated(self, users: &RegionProcessors<W>) -> Self {
        let starts = self.places.meets(users);
        Self {
            transfers: self.transfers + users.count() - u64::from(starts),
            places: if starts { *users } else { users.union(&self.places) },
        }
    }
}

/// Segment tree: the least `Distance` of any range of positions, in logarithmic time.
struct DistanceTree<const W: usize> {
    leaves: usize,
    nodes: Vec<Distance<W>>,
}

impl<const W: usize> DistanceTree<W> {
    fn new(leaves: usize) -> Self {
        Self { leaves, nodes: vec![Distance::NEVER; 2 * leaves] }
    }

    fn set(&mut self, at: usize, distance: Distance<W>) {
        let mut node = at + self.leaves;
        self.nodes[node] = distance;
        while node > 1 {
            node /= 2;
            let least = self.nodes[2 * node].or(self.nodes[2 * node + 1]);
            // Distances mostly grow with their position, so that nothing changes further up.
            if self.nodes[node] == least {
                break;
            }
            self.nodes[node] = least;
        }
    }

    fn least(&self, low: usize, high: usize) -> Distance<W> {
        let (mut low, mut high) = (low + self.leaves, high + self.leaves + 1);
        let mut found = Distance::NEVER;
        while low < high {
            if low % 2 == 1 {
                found = found.or(self.nodes[low]);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                found = found.or(self.nodes[high]);
            }
            (low, high) = (low / 2, high / 2);
        }
        found
    }
}

/// The processors that reference the block from a visit on, up to and including the next visit that
/// writes.
struct UpcomingUsers<const W: usize> {
    users: RegionProcessors<W>,
    /// The writer and the position after its visit; `None` if no later visit writes.
    writer: Option<(u16, usize)>,
}

fn upcoming_users<const W: usize>(visits: &[Visit]) -> Vec<UpcomingUsers<W>> {
    let mut found: Vec<UpcomingUsers<W>> = Vec::with_capacity(visits.len());
    for (at, visit) in visits.iter().enumerate().rev() {
        let next = found.last().filter(|_| !visit.writes);
        let mut users = next.map_or(RegionProcessors::NONE, |next| next.users);
        users.insert(visit.proc);
        let later = next.and_then(|next| next.writer);
        let writer = if visit.writes { Some((visit.proc, at + 1)) } else { later };
        found.push(UpcomingUsers { users, writer });
    }
    found.reverse();
    found
}

/// The last visit of each processor, most recent first.
struct RecentVisits(Vec<(u16, usize)>);

impl RecentVisits {
    fn visit(&mut self, proc: u16, at: usize) {
        let place = self.0.iter().position(|&(l, _)| l == proc);
        match place {
            Some(place) => self.0[..=place].rotate_right(1),
            None => self.0.insert(0, (proc, at)),
        }
        self.0[0] = (proc, at);
    }

    /// The least distance by an interval from some visit at or after `since` to now.
    fn best<const W: usize>(&self, since: usize, starts: &DistanceTree<W>) -> Distance<W> {
        let mut users = RegionProcessors::NONE;
        let mut best = Distance::NEVER;
        for (k, &(proc, last)) in self.0.iter().enumerate() {
            if last < since {
                break;
            }
            users.insert(proc);
            // An interval of one processor saves no transfer and costs a merge.
            if k > 0 {
                let low = self.0.get(k + 1).map_or(0, |&(_, before)| before + 1).max(since);
                let start = starts.least(low, last);
                if start.transfers != u64::MAX {
                    best = best.or(start.replicated(&users));
                }
            }
        }
        best
    }
}

/// Transfers and merges of the best placement with false sharing intervals, when a merge costs as
/// much as `merge` transfers, at least one. No merge is needed where the trace ends.
///
/// Cost: O(v p log v) for v visits by p processors.
pub(crate) fn transfers<const W: usize>(visits: &[Visit], merge: u64) -> u64 {
    let end = visits.len();
    let upcoming_users = upcoming_users::<W>(visits);
    let mut distance = vec![Distance::NEVER; end + 1];
    distance[0] = Distance { transfers: 0, places: RegionProcessors::ALL };
    let mut starts = DistanceTree::new(end + 1);
    let mut recent = RecentVisits(Vec::new());
    let (mut since, mut least) = (0, u64::MAX);
    for at in 0..=end {
        if at > 0 {
            let visit = visits[at - 1];
            recent.visit(visit.proc, at - 1);
            since = since.max(visit.since as usize);
            let mut ended: Distance<W> = recent.best(since, &starts);
            if at == end {
                least = least.min(ended.transfers);
            } else if ended.transfers != u64::MAX {
                ended.transfers += merge;
                distance[at] = distance[at].or(ended);
            }
        }
        // All edges to `at` come from earlier visits, so its distance is final.
        let here = distance[at];
        if here.transfers == u64::MAX {
            continue;
        }
        starts.set(at, here);
        match upcoming_users.get(at) {
            None => least = least.min(here.transfers),
            Some(next) => {
                let replicated = here.replicated(&next.users);
                match next.writer {
                    None => least = least.min(replicated.transfers),
                    Some((proc, after)) => {
                        // The write leaves one copy, at the writer.
                        let at_writer =
                            Distance { places: RegionProcessors::one(proc), ..replicated };
                        distance[after] = distance[after].or(at_writer);
                    }
                }
            }
        }
    }
    least
}
