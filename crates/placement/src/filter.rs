//! Which references the engine takes into account.

use homenode_base::Flags;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to do with references to private memory ([`Flags::PRIVATE`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Private {
    /// Count them as local references and leave them out of every history.
    #[default]
    Local,
    /// Leave them out of everything.
    Exclude,
    /// Treat them like all others.
    Shared,
}

/// What to do with references to synchronisation variables ([`Flags::SYNC`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Synchronisation {
    /// Leave them out of everything, as the thesis does (§2.3.1).
    #[default]
    Exclude,
    /// Treat them like all others.
    Include,
}

/// The choice of references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filter {
    /// Private references.
    pub private: Private,
    /// References to synchronisation variables.
    pub synchronisation: Synchronisation,
}

/// What becomes of one reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is part of the histories of its blocks.
    Simulate,
    /// It is counted as local and part of no history.
    CountAsLocal,
    /// It is left out of everything.
    Skip,
}

impl Filter {
    /// Whether references with these flags are part of a history.
    #[must_use]
    pub fn simulates(self, flags: Flags) -> bool {
        let sync = flags.contains(Flags::SYNC) && self.synchronisation == Synchronisation::Exclude;
        let private = flags.contains(Flags::PRIVATE) && self.private != Private::Shared;
        !sync && !private
    }

    /// The fate of references with each combination of flag bits. Exclusion as a synchronisation
    /// reference comes before everything the private flag says.
    #[must_use]
    pub fn fates(self) -> [Fate; 256] {
        let mut fates = [Fate::Simulate; 256];
        for (bits, fate) in (0..=u8::MAX).zip(fates.iter_mut()) {
            let flags = Flags(bits);
            let exclude = self.synchronisation == Synchronisation::Exclude;
            if flags.contains(Flags::SYNC) && exclude {
                *fate = Fate::Skip;
            } else if flags.contains(Flags::PRIVATE) {
                *fate = match self.private {
                    Private::Local => Fate::CountAsLocal,
                    Private::Exclude => Fate::Skip,
                    Private::Shared => Fate::Simulate,
                };
            }
        }
        fates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_part_of_a_history_is_what_is_simulated() {
        for private in [Private::Local, Private::Exclude, Private::Shared] {
            for synchronisation in [Synchronisation::Exclude, Synchronisation::Include] {
                let filter = Filter { private, synchronisation };
                for (bits, fate) in (0..=u8::MAX).zip(filter.fates()) {
                    assert_eq!(filter.simulates(Flags(bits)), fate == Fate::Simulate, "{bits}");
                }
            }
        }
    }
}
