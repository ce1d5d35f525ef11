//! Fractions in results.

/// The part as a fraction of the whole; `None` if the whole is 0.
pub(crate) fn ratio(part: u64, whole: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
    (whole > 0).then(|| part as f64 / whole as f64)
}
