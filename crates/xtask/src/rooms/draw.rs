//! A graph as a picture: one row per layer, users above what they use.

use std::fmt::Write as _;

use super::graph::Graph;

/// Size of a room, in pixels.
const WIDTH: usize = 104;
const HEIGHT: usize = 30;
/// Width of the lane of an arrow through a row of rooms.
const LANE: usize = 16;
const GAP: usize = 16;
const ROW: usize = 78;
/// Sweeps over the rows that move rooms above the middle of what they use.
const SWEEPS: usize = 24;

/// An element of a row: a room, or an arrow that passes it.
struct RowPlace {
    room: Option<usize>,
    layer: usize,
}

/// Rooms and the lanes of arrows by layer, and the parts of arrows between adjacent layers.
struct Rows {
    nodes: Vec<RowPlace>,
    /// Positions of nodes in each row, from left to right; the lowest row first.
    rows: Vec<Vec<usize>>,
    /// Upper and lower node.
    parts: Vec<(usize, usize)>,
}

impl Rows {
    fn new(graph: &Graph) -> Self {
        let layers = graph.layers();
        let mut nodes: Vec<RowPlace> = (0..graph.names.len())
            .map(|room| RowPlace { room: Some(room), layer: layers[room] })
            .collect();
        let mut parts = Vec::new();
        for (user, used) in graph.reduced() {
            let mut above = user;
            // An arrow over several layers gets a lane of its own through the layers between.
            for layer in (layers[used] + 1..layers[user]).rev() {
                nodes.push(RowPlace { room: None, layer });
                parts.push((above, nodes.len() - 1));
                above = nodes.len() - 1;
            }
            parts.push((above, used));
        }
        let count = layers.iter().max().map_or(0, |top| top + 1);
        let mut rows = vec![Vec::new(); count];
        nodes.iter().enumerate().for_each(|(node, n)| rows[n.layer].push(node));
        let mut new = Self { nodes, rows, parts };
        (0..SWEEPS).for_each(|sweep| new.sort(sweep % 2 == 0));
        new
    }

    /// Moves each node to the mean position of its neighbours in the layer below, or above.
    fn sort(&mut self, by_lower: bool) {
        let order: Vec<usize> = if by_lower {
            (0..self.rows.len()).collect()
        } else {
            (0..self.rows.len()).rev().collect()
        };
        for layer in order {
            let centres = self.centres();
            let middle = |&node: &usize| {
                let turned = |&(upper, lower): &(usize, usize)| {
                    if by_lower { (upper, lower) } else { (lower, upper) }
                };
                let joined = self.parts.iter().map(turned).filter(|&(own, _)| own == node);
                let near: Vec<usize> = joined.map(|(_, other)| centres[other]).collect();
                near.iter().sum::<usize>().checked_div(near.len()).unwrap_or(centres[node])
            };
            let mut row = self.rows[layer].clone();
            row.sort_by_key(|node| (middle(node), *node));
            self.rows[layer] = row;
        }
    }

    fn width_of(&self, node: usize) -> usize {
        GAP + if self.nodes[node].room.is_some() { WIDTH } else { LANE }
    }

    fn width(&self) -> usize {
        let row = |row: &Vec<usize>| row.iter().map(|&node| self.width_of(node)).sum::<usize>();
        GAP + self.rows.iter().map(row).max().unwrap_or(0)
    }

    /// Horizontal middle of each node.
    fn centres(&self) -> Vec<usize> {
        let mut centres = vec![0; self.nodes.len()];
        for row in &self.rows {
            let own: usize = row.iter().map(|&node| self.width_of(node)).sum();
            let mut left = (self.width() - own + GAP) / 2;
            for &node in row {
                centres[node] = left + (self.width_of(node) - GAP) / 2;
                left += self.width_of(node);
            }
        }
        centres
    }
}

/// The picture as SVG, without arrows that follow from others.
pub fn svg(graph: &Graph, title: &str) -> String {
    let rows = Rows::new(graph);
    let centres = rows.centres();
    let (width, height) = (rows.width(), rows.rows.len() * ROW + GAP);
    // The lowest layer is at the bottom of the picture.
    let top = |node: usize| (rows.rows.len() - 1 - rows.nodes[node].layer) * ROW + GAP;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\" text-anchor=\"middle\">\n\
         <title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
         markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#667\"/>\
         </marker></defs>\n"
    );
    for &(upper, lower) in &rows.parts {
        let (x, to, y, below) = (centres[upper], centres[lower], top(upper) + HEIGHT, top(lower));
        let bend = (y + below) / 2;
        // In a lane the line goes straight on; it has a head where it ends at a room.
        let (end, head) = match rows.nodes[lower].room {
            Some(_) => (String::new(), " marker-end=\"url(#head)\""),
            None => (format!("V{}", below + HEIGHT), ""),
        };
        let _ = writeln!(
            text,
            "<path d=\"M{x} {y}C{x} {bend} {to} {bend} {to} {below}{end}\" fill=\"none\" \
             stroke=\"#667\"{head}/>"
        );
    }
    for (node, n) in rows.nodes.iter().enumerate() {
        let Some(room) = n.room else { continue };
        let (x, y, name) = (centres[node], top(node), &graph.names[room]);
        let (left, base) = (x - WIDTH / 2, y + HEIGHT / 2 + 5);
        let _ = writeln!(
            text,
            "<rect x=\"{left}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"4\" \
             fill=\"#eef2fa\" stroke=\"#345\"/><text x=\"{x}\" y=\"{base}\">{name}</text>"
        );
    }
    text + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rooms::graph::tests::graph;

    #[test]
    fn used_rooms_are_below() {
        let picture = svg(&graph(&[("upper", "lower")]), "two rooms");
        let height = |name: &str| -> usize {
            let (before, _) = picture.split_once(&format!(">{name}<")).unwrap();
            let (_, y) = before.rsplit_once("y=\"").unwrap();
            y.trim_end_matches(['"', '>']).split('"').next().unwrap().parse().unwrap()
        };
        assert!(height("upper") < height("lower"));
        assert_eq!(picture.matches("<path d=\"M").count(), 2, "one head and one arrow");
    }

    #[test]
    fn an_arrow_over_several_layers_has_a_lane_through_the_layers_between() {
        let graph = graph(&[("a", "b"), ("b", "c"), ("c", "d"), ("a", "e"), ("e", "d")]);
        let rows = Rows::new(&graph);
        let lanes: Vec<usize> =
            rows.nodes.iter().filter(|n| n.room.is_none()).map(|n| n.layer).collect();
        assert_eq!(lanes, [1], "from e, which is near a, to d at the bottom");
        assert_eq!(rows.parts.len(), 6);
    }
}
