//! Off-line optimal placement by dynamic programming, and the brute-force oracle it is checked against.
