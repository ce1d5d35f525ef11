//! Exact fractions.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A fraction, not negative, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    numerator: u64,
    denominator: u64,
}

impl Ratio {
    /// The fraction in lowest terms; `None` if it does not fit 64 bits or divides by 0.
    #[must_use]
    pub fn new(numerator: u128, denominator: u128) -> Option<Self> {
        let divisor = gcd(numerator, denominator);
        let part = |n: u128| u64::try_from(n.checked_div(divisor)?).ok();
        Some(Self { numerator: part(numerator)?, denominator: part(denominator)? })
            .filter(|r| r.denominator > 0)
    }

    /// Above the line.
    #[must_use]
    pub fn numerator(self) -> u64 {
        self.numerator
    }

    /// Below the line.
    #[must_use]
    pub fn denominator(self) -> u64 {
        self.denominator
    }

    /// The nearest double.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a rounded figure")]
        let value = self.numerator as f64 / self.denominator as f64;
        value
    }
}

pub(crate) fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        let cross = |a: &Self, b: &Self| u128::from(a.numerator) * u128::from(b.denominator);
        cross(self, other).cmp(&cross(other, self))
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            below => write!(f, "{}/{below}", self.numerator),
        }
    }
}

/// A decimal number, `12.5`, or a fraction, `25/2`.
impl FromStr for Ratio {
    type Err = RatioError;

    fn from_str(text: &str) -> Result<Self, RatioError> {
        let fail = || RatioError { text: text.to_owned() };
        let digits = |s: &str| {
            let plain = !s.is_empty() && s.len() <= 18 && s.bytes().all(|b| b.is_ascii_digit());
            plain.then(|| s.parse::<u128>().ok()).flatten().ok_or_else(fail)
        };
        let (numerator, denominator) = if let Some((above, below)) = text.split_once('/') {
            (digits(above)?, digits(below)?)
        } else if let Some((whole, part)) = text.split_once('.') {
            let places = u32::try_from(part.len()).ok().filter(|&n| n <= 9).ok_or_else(fail)?;
            let scale = 10u128.pow(places);
            (digits(whole)? * scale + digits(part)?, scale)
        } else {
            (digits(text)?, 1)
        };
        Self::new(numerator, denominator).ok_or_else(fail)
    }
}

/// A text that is not a number from 0 up, or does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a number such as 15, 12.5 or 25/2")]
pub struct RatioError {
    text: String,
}
