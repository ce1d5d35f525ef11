//! A directed graph of named rooms: cycles, transitive reduction, and layers.

use std::collections::BTreeSet;

/// Rooms and their uses of each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Names, sorted.
    pub names: Vec<String>,
    /// Index of a room and of one that it uses.
    pub arrows: BTreeSet<(usize, usize)>,
}

impl Graph {
    /// A graph of these pairs: a room, and one that it uses. Rooms without arrows are kept.
    pub fn new(rooms: BTreeSet<String>, uses: &BTreeSet<(String, String)>) -> Self {
        let names: Vec<String> = rooms.into_iter().collect();
        let at = |name: &String| names.binary_search(name).ok();
        let arrows = uses
            .iter()
            .filter_map(|(user, used)| Some((at(user)?, at(used)?)))
            .filter(|(user, used)| user != used)
            .collect();
        Self { names, arrows }
    }

    /// All rooms that can be reached from each room by one arrow or more.
    fn reach(&self) -> Vec<BTreeSet<usize>> {
        let step = |from: usize| self.arrows.range((from, 0)..(from + 1, 0)).map(|&(_, to)| to);
        let from = |start: usize| {
            let mut seen = BTreeSet::new();
            let mut open: Vec<usize> = step(start).collect();
            while let Some(room) = open.pop() {
                if seen.insert(room) {
                    open.extend(step(room));
                }
            }
            seen
        };
        (0..self.names.len()).map(from).collect()
    }

    /// Sets of rooms that use each other, directly or indirectly, each set once.
    pub fn cycles(&self) -> Vec<Vec<&str>> {
        let reach = self.reach();
        let mut found: Vec<Vec<&str>> = Vec::new();
        for room in 0..self.names.len() {
            let cycle: Vec<usize> = (0..self.names.len())
                .filter(|&other| reach[room].contains(&other) && reach[other].contains(&room))
                .collect();
            if cycle.first() == Some(&room) {
                found.push(cycle.into_iter().map(|room| self.names[room].as_str()).collect());
            }
        }
        found
    }

    /// The arrows that do not follow from others; in a graph with cycles, all of them.
    pub fn reduced(&self) -> BTreeSet<(usize, usize)> {
        if !self.cycles().is_empty() {
            return self.arrows.clone();
        }
        let reach = self.reach();
        let follows = |&(user, used): &(usize, usize)| {
            self.arrows.range((user, 0)..(user + 1, 0)).any(|&(_, by)| reach[by].contains(&used))
        };
        self.arrows.iter().filter(|arrow| !follows(arrow)).copied().collect()
    }

    /// The layer of each room: above all that it uses, and as close to its users as possible. Rooms
    /// of a cycle are not separated.
    pub fn layers(&self) -> Vec<usize> {
        let reach = self.reach();
        let down = |&&(user, used): &&(usize, usize)| !reach[used].contains(&user);
        let mut layers = vec![0; self.names.len()];
        // A path without cycles is no longer than the number of rooms.
        for _ in 0..self.names.len() {
            for &(user, used) in self.arrows.iter().filter(down) {
                layers[user] = layers[user].max(layers[used] + 1);
            }
        }
        for _ in 0..self.names.len() {
            for room in 0..self.names.len() {
                let users = self.arrows.iter().filter(down).filter(|&&(_, used)| used == room);
                if let Some(lowest) = users.map(|&(user, _)| layers[user]).min() {
                    layers[room] = lowest - 1;
                }
            }
        }
        layers
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A graph of these pairs.
    pub fn graph(uses: &[(&str, &str)]) -> Graph {
        let uses: BTreeSet<(String, String)> =
            uses.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect();
        let rooms = uses.iter().flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
        Graph::new(rooms, &uses)
    }

    #[test]
    fn arrows_that_follow_from_others_are_left_out() {
        let chain = graph(&[("c", "b"), ("b", "a"), ("c", "a")]);
        assert_eq!(chain.reduced(), BTreeSet::from([(1, 0), (2, 1)]));
        assert_eq!(chain.layers(), [0, 1, 2]);
        let near = graph(&[("c", "b"), ("b", "a"), ("c", "d")]);
        assert_eq!(near.layers(), [0, 1, 2, 1], "d is only used by c");
        assert!(chain.cycles().is_empty());
    }

    #[test]
    fn a_cycle_is_found_once_with_all_its_rooms() {
        let cycle = graph(&[("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")]);
        assert_eq!(cycle.cycles(), [["a", "b", "c"]]);
    }
}
