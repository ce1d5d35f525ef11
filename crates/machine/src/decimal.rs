//! Decimal numbers without rounding: prices and coefficients in millionths.

use std::fmt;

/// Millionths in one: the resolution of prices.
pub(crate) const ONE: u64 = 1_000_000;

/// Largest number accepted, so that no sum or product of a machine file can overflow.
const LARGEST: u64 = 1_000_000_000_000;

/// A number from 0 to 10^12 with at most six decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Decimal(u64);

/// Why a text or a result is not such a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecimalError {
    /// Not digits with at most one point.
    Syntax,
    /// More than six decimals.
    TooFine,
    /// More than 10^12.
    TooLarge,
}

impl fmt::Display for DecimalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "expected a number such as 15 or 2.5, or inf",
            Self::TooFine => "at most six decimals can be kept exactly",
            Self::TooLarge => "the largest number accepted is 1000000000000",
        })
    }
}

impl Decimal {
    pub(crate) fn from_millionths(millionths: u128) -> Result<Self, DecimalError> {
        let value = u64::try_from(millionths).map_err(|_| DecimalError::TooLarge)?;
        if value > LARGEST * ONE { Err(DecimalError::TooLarge) } else { Ok(Self(value)) }
    }

    pub(crate) fn millionths(self) -> u64 {
        self.0
    }

    /// Reads digits with an optional fraction; no sign, no exponent.
    pub(crate) fn parse(text: &str) -> Result<Self, DecimalError> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(fraction) || text.ends_with('.') {
            return Err(DecimalError::Syntax);
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > 6 {
            return Err(DecimalError::TooFine);
        }
        if whole.len() > 20 {
            return Err(DecimalError::TooLarge);
        }
        let whole: u128 = whole.parse().map_err(|_| DecimalError::TooLarge)?;
        let padded = format!("{fraction:0<6}");
        let fraction: u128 = padded.parse().map_err(|_| DecimalError::Syntax)?;
        Self::from_millionths(whole * u128::from(ONE) + fraction)
    }

    /// The product, if six decimals can hold it.
    pub(crate) fn times(self, other: Self) -> Result<Self, DecimalError> {
        let product = u128::from(self.0) * u128::from(other.0);
        if product % u128::from(ONE) != 0 {
            return Err(DecimalError::TooFine);
        }
        Self::from_millionths(product / u128::from(ONE))
    }

    /// The quotient to the nearest thousandth, or `None` if `other` is 0.
    pub(crate) fn over(self, other: Self) -> Option<Result<Self, DecimalError>> {
        let step = u128::from(ONE) / 1_000;
        let divisor = u128::from(other.0).checked_mul(step).filter(|&d| d > 0)?;
        let dividend = u128::from(self.0) * u128::from(ONE);
        Some(Self::from_millionths((dividend + divisor / 2) / divisor * step))
    }

    pub(crate) fn plus(self, other: Self) -> Result<Self, DecimalError> {
        Self::from_millionths(u128::from(self.0) + u128::from(other.0))
    }
}
