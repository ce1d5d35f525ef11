//! Which references an engine counts, and what their flags mean to it.

use crate::{AccessKind, Flags};

/// How an engine treats a reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReferenceRole {
    /// Ignored.
    Excluded,
    /// Counted, and known to access private memory: a placement engine treats it as local, a cache
    /// treats its block as part of a private area.
    #[default]
    Private,
    /// Counted; other threads may reference the same memory.
    Shared,
}

/// Selects the references that an engine counts.
///
/// The default selects the data references of the thesis: no instruction fetches, no references to
/// synchronisation variables (§2.3.1); references to private memory are marked as private.
///
/// ```
/// use homenode_base::{AccessKind, Flags, ReferenceFilter, ReferenceRole};
/// let filter = ReferenceFilter::default();
/// assert_eq!(filter.role(AccessKind::Read, Flags(0)), ReferenceRole::Shared);
/// assert_eq!(filter.role(AccessKind::Read, Flags::PRIVATE), ReferenceRole::Private);
/// assert_eq!(filter.role(AccessKind::Fetch, Flags(0)), ReferenceRole::Excluded);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ReferenceFilter {
    /// Role of references flagged [`Flags::PRIVATE`].
    pub private: ReferenceRole,
    /// Whether references flagged [`Flags::SYNC`] count.
    pub synchronisation: bool,
    /// Whether instruction fetches count.
    pub fetches: bool,
}

impl ReferenceFilter {
    /// Counts every reference: a cache treats a lock like any other word.
    pub const ALL: Self =
        Self { private: ReferenceRole::Private, synchronisation: true, fetches: true };

    /// The role of a reference with this kind and these flags. One reason for exclusion suffices.
    #[inline]
    #[must_use]
    pub const fn role(self, kind: AccessKind, flags: Flags) -> ReferenceRole {
        let fetch = matches!(kind, AccessKind::Fetch) && !self.fetches;
        let synchronisation = flags.contains(Flags::SYNC) && !self.synchronisation;
        if fetch || synchronisation {
            ReferenceRole::Excluded
        } else if flags.contains(Flags::PRIVATE) {
            self.private
        } else {
            ReferenceRole::Shared
        }
    }

    /// The roles of all references of one kind, indexed by flag bits: a lookup table for loops over
    /// references.
    #[must_use]
    pub fn roles(self, kind: AccessKind) -> [ReferenceRole; 256] {
        let mut roles = [ReferenceRole::Excluded; 256];
        for (bits, role) in (0..=u8::MAX).zip(roles.iter_mut()) {
            *role = self.role(kind, Flags(bits));
        }
        roles
    }

    /// [`roles`](Self::roles) for all kinds, indexed by [`AccessKind::code`].
    #[must_use]
    pub fn all_roles(self) -> [[ReferenceRole; 256]; 4] {
        let kind = |code: u8| AccessKind::from_code(code).map(|kind| self.roles(kind));
        [0, 1, 2, 3].map(|code| kind(code).unwrap_or([ReferenceRole::Excluded; 256]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ReferenceRole::{Excluded, Private, Shared};

    /// Compares every filter and reference with the three rules, applied one by one.
    #[test]
    fn a_reference_counts_unless_a_rule_excludes_it() {
        for private in [Excluded, Private, Shared] {
            for (synchronisation, fetches) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                let filter = ReferenceFilter { private, synchronisation, fetches };
                for code in 0..4 {
                    let kind = AccessKind::from_code(code).unwrap();
                    assert_eq!(filter.all_roles()[usize::from(code)], filter.roles(kind));
                    for (bits, role) in (0..=u8::MAX).zip(filter.roles(kind)) {
                        let has = |flag: Flags| Flags(bits).contains(flag);
                        let out = kind == AccessKind::Fetch && !fetches
                            || has(Flags::SYNC) && !synchronisation
                            || has(Flags::PRIVATE) && private == Excluded;
                        assert_eq!(role == Excluded, out, "{filter:?} {kind:?} {bits}");
                        let is_private = has(Flags::PRIVATE) && private == Private;
                        assert_eq!(role == Private, !out && is_private, "{filter:?} {bits}");
                    }
                }
            }
        }
    }
}
