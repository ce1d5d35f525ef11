//! The kinds of machines.

use serde::{Serialize, Serializer};

/// The kind of a machine: its parts, which determine what can be simulated on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum MachineKind {
    /// Prices of references and moves.
    Placement,
    /// Prices of the events of page-coherence policies.
    PageCoherence,
    /// Processors with caches on a bus.
    Bus,
    /// Cores with caches in sockets, linked point to point.
    Multicore,
    /// Nodes with caches and a directory each, on a network.
    Directory,
    /// The same, with a controller in each node that serves one request at a time.
    Controllers,
}

/// A kind of machine as it is listed.
#[derive(Clone, Copy, Debug)]
pub struct KindEntry {
    /// The kind.
    pub kind: MachineKind,
    /// The value of `kind` in files and results.
    pub name: &'static str,
    /// What machines of this kind have and others lack, for error messages.
    pub has: &'static str,
    /// What is simulated on them.
    pub simulated_with: &'static str,
    /// The option that selects what is simulated, with an example of its values.
    pub option: &'static str,
    /// A machine of this kind.
    pub example: &'static str,
}

/// Every kind of machine, in the order of [`MachineKind`]. A new one is a row and a variant here; a
/// kind that other crates know has a file beside `bus.rs`, too.
pub const KINDS: &[KindEntry] = &[
    KindEntry {
        kind: MachineKind::Placement,
        name: "placement",
        has: "prices of references",
        simulated_with: "policies",
        option: "--policy ace,first-touch",
        example: "numa",
    },
    KindEntry {
        kind: MachineKind::PageCoherence,
        name: "page-coherence",
        has: "prices of page-coherence events",
        simulated_with: "page-coherence policies",
        option: "--policy upt,inv",
        example: "markatos",
    },
    KindEntry {
        kind: MachineKind::Bus,
        name: "bus",
        has: "caches and a bus",
        simulated_with: "coherence protocols",
        option: "--protocol mesi,pscr",
        example: "bus-smp",
    },
    KindEntry {
        kind: MachineKind::Multicore,
        name: "multicore",
        has: "cores with caches",
        simulated_with: "coherence protocols",
        option: "--protocol mesi,moesi",
        example: "spr-2s-lines",
    },
    KindEntry {
        kind: MachineKind::Directory,
        name: "directory",
        has: "nodes with a directory",
        simulated_with: "directory protocols",
        option: "--protocol dash --home round-robin,first-touch",
        example: "dash-mesh",
    },
    KindEntry {
        kind: MachineKind::Controllers,
        name: "controllers",
        has: "nodes with controllers",
        simulated_with: "linked-list protocols",
        option: "--protocol sdd --home round-robin,first-touch",
        example: "alite",
    },
];

impl MachineKind {
    /// Its row in [`KINDS`].
    #[must_use]
    pub fn entry(self) -> &'static KindEntry {
        &KINDS[usize::from(self as u8)]
    }

    /// The value of `kind` in files and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The kind with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        KINDS.iter().find(|entry| entry.name == name).map(|entry| entry.kind)
    }
}

impl Serialize for MachineKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
