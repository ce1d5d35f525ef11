//! How many blocks have how many moves.

use homenode_optimal::MoveHistogram;

#[test]
fn bins_double() {
    let mut moves = MoveHistogram::default();
    [0, 0, 1, 2, 3, 4, 9].into_iter().for_each(|n| moves.add(n));
    let bins: Vec<_> = moves.bins().iter().map(|b| (b.from, b.to, b.blocks)).collect();
    assert_eq!(bins, [(0, 0, 2), (1, 1, 1), (2, 3, 2), (4, 7, 1), (8, 15, 1)]);
    let mut twice = MoveHistogram::default();
    twice += &moves;
    twice += &moves;
    assert_eq!((twice.blocks, twice.moves, twice.max), (14, 38, 9));
    assert_eq!(twice.bins()[2].blocks, 4);
}
