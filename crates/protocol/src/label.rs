//! Names and meanings of the values in tables.

use serde::Serialize;

/// A name and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TableLabel {
    /// The name in tables.
    pub name: &'static str,
    /// The meaning.
    pub meaning: &'static str,
}

/// A small set of values that tables are indexed by.
pub trait Labelled: Copy + Eq + 'static {
    /// All values, in the order of tables.
    const ALL: &'static [Self];

    /// The name in tables.
    fn name(self) -> &'static str;

    /// The meaning.
    fn meaning(self) -> &'static str;

    /// Name and meaning.
    fn label(self) -> TableLabel {
        TableLabel { name: self.name(), meaning: self.meaning() }
    }

    /// Position in [`Labelled::ALL`].
    fn index(self) -> u8 {
        let found = Self::ALL.iter().zip(0..).find(|&(&value, _)| value == self);
        found.map_or(0, |(_, index)| index)
    }
}

/// The labels of all values of a type, in the order of tables.
#[must_use]
pub fn labels<L: Labelled>() -> Vec<TableLabel> {
    L::ALL.iter().map(|&value| value.label()).collect()
}

/// Declares an enum whose values have a printed name and a meaning, in the order of tables.
///
/// ```
/// use homenode_protocol::{Labelled, labelled};
/// labelled! {
///     /// States of a copy.
///     enum State {
///         Invalid = "I": "no copy",
///         Shared = "S": "a copy that others may have as well",
///     }
/// }
/// assert_eq!((State::Shared.name(), State::Shared.index()), ("S", 1));
/// assert_eq!(State::Invalid.label().meaning, "no copy");
/// ```
#[macro_export]
macro_rules! labelled {
    (
        $(#[$doc:meta])* $visibility:vis enum $name:ident {
            $($value:ident = $text:literal: $meaning:literal,)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $visibility enum $name {
            $(#[doc = $meaning] $value,)+
        }

        impl $crate::Labelled for $name {
            const ALL: &'static [Self] = &[$(Self::$value),+];

            fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $text,)+
                }
            }

            fn index(self) -> u8 {
                self as u8
            }

            fn meaning(self) -> &'static str {
                match self {
                    $(Self::$value => $meaning,)+
                }
            }
        }
    };
}
