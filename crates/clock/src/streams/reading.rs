//! Which references count.

/// Which references count, and what their flags mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Whether references flagged private are counted.
    pub private: bool,
    /// Whether that flag makes their area private.
    pub private_areas: bool,
    /// Whether synchronisation references are counted.
    pub synchronisation: bool,
    /// Whether instruction fetches are counted, as reads.
    pub fetches: bool,
    /// Whether private areas of the kernel count as such (PSCR's extension).
    pub private_kernel: bool,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            private: true,
            private_areas: true,
            synchronisation: true,
            fetches: true,
            private_kernel: false,
        }
    }
}
