//! Numbers of the streams.

/// Threads of the turns.
pub(super) const TURNS: u8 = 0;
/// Rows of the turns.
pub(super) const LENGTHS: u8 = 1;
/// Site numbers of one byte.
pub(super) const SITES: u8 = 2;
/// Site numbers of two bytes.
pub(super) const WIDE_SITES: u8 = 3;
/// Codes of the predictions.
pub(super) const CODES: u8 = 4;
/// Explicit differences.
pub(super) const DIFFERENCES: u8 = 5;
/// First uses of sites.
pub(super) const FIRST_USES: u8 = 6;
/// Definitions of sites.
pub(super) const DEFINITIONS: u8 = 7;
/// Gaps of one byte.
pub(super) const GAPS: u8 = 8;
/// Gaps of four bytes.
pub(super) const LONG_GAPS: u8 = 9;
/// Process identities.
pub(super) const PIDS: u8 = 10;
/// Events.
pub(super) const EVENTS: u8 = 11;
