//! A graph as a picture: a row a layer, what is used by others below what uses it.

use std::fmt::Write as _;

use super::graph::Graph;

const WIDTH: usize = 116;
const HEIGHT: usize = 30;
const GAP: usize = 18;
const ROW: usize = 74;
/// Sweeps over the rows that put rooms above the middle of what they use.
const SWEEPS: usize = 8;

/// The picture as SVG, with only the arrows that do not follow from others.
pub fn svg(graph: &Graph, title: &str) -> String {
    let rows = rows(graph);
    let widest = rows.iter().map(Vec::len).max().unwrap_or(1);
    let (width, height) = (widest * (WIDTH + GAP) + GAP, rows.len() * ROW + GAP);
    // The lowest layer is at the bottom of the picture.
    let place = |room: usize| {
        rows.iter().enumerate().find_map(|(layer, row)| {
            let at = row.iter().position(|&r| r == room)?;
            let left = (width - row.len() * (WIDTH + GAP) + GAP) / 2 + at * (WIDTH + GAP);
            Some((left + WIDTH / 2, (rows.len() - 1 - layer) * ROW + GAP))
        })
    };
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\" text-anchor=\"middle\">\n\
         <title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
         markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#667\"/>\
         </marker></defs>\n"
    );
    for (user, used) in graph.reduced() {
        let (Some((x, y)), Some((to, below))) = (place(user), place(used)) else { continue };
        let (y, bend) = (y + HEIGHT, (y + HEIGHT + below) / 2);
        let _ = writeln!(
            text,
            "<path d=\"M{x} {y}C{x} {bend} {to} {bend} {to} {below}\" fill=\"none\" \
             stroke=\"#667\" marker-end=\"url(#head)\"/>"
        );
    }
    for (room, name) in graph.names.iter().enumerate() {
        let Some((x, y)) = place(room) else { continue };
        let (left, base) = (x - WIDTH / 2, y + HEIGHT / 2 + 5);
        let _ = writeln!(
            text,
            "<rect x=\"{left}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"4\" \
             fill=\"#eef2fa\" stroke=\"#345\"/><text x=\"{x}\" y=\"{base}\">{name}</text>"
        );
    }
    text + "</svg>\n"
}

/// Rooms by layer, the lowest first, each row ordered so that arrows are short.
fn rows(graph: &Graph) -> Vec<Vec<usize>> {
    let layers = graph.layers();
    let count = layers.iter().max().map_or(0, |top| top + 1);
    let mut rows = vec![Vec::new(); count];
    layers.iter().enumerate().for_each(|(room, &layer)| rows[layer].push(room));
    let arrows = graph.reduced();
    for sweep in 0..SWEEPS {
        let place: Vec<f64> = places(&rows, graph.names.len());
        for layer in 0..count {
            let middle = |&room: &usize| {
                let near: Vec<f64> = arrows
                    .iter()
                    .filter_map(|&(user, used)| match sweep % 2 {
                        0 if user == room => Some(place[used]),
                        1 if used == room => Some(place[user]),
                        _ => None,
                    })
                    .collect();
                #[expect(clippy::cast_precision_loss, reason = "few rooms")]
                let count = near.len() as f64;
                if near.is_empty() { place[room] } else { near.iter().sum::<f64>() / count }
            };
            rows[layer].sort_by(|a, b| middle(a).total_cmp(&middle(b)).then(a.cmp(b)));
        }
    }
    rows
}

/// How far from the middle of its row each room is.
#[expect(clippy::cast_precision_loss, reason = "few rooms")]
fn places(rows: &[Vec<usize>], count: usize) -> Vec<f64> {
    let mut places = vec![0.0; count];
    for row in rows {
        for (at, &room) in row.iter().enumerate() {
            places[room] = at as f64 - (row.len() - 1) as f64 / 2.0;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn what_is_used_stands_below() {
        let uses = BTreeSet::from([("upper".to_owned(), "lower".to_owned())]);
        let rooms = BTreeSet::from(["upper".to_owned(), "lower".to_owned()]);
        let picture = svg(&Graph::new(rooms, &uses), "two rooms");
        let height = |name: &str| -> usize {
            let (before, _) = picture.split_once(&format!(">{name}<")).unwrap();
            let (_, y) = before.rsplit_once("y=\"").unwrap();
            y.trim_end_matches('"').parse().unwrap()
        };
        assert!(height("upper") < height("lower"));
        assert_eq!(picture.matches("<path d=\"M").count(), 2, "one head and one arrow");
    }
}
