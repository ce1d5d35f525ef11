//! When a page is copied to the memory of a node that reads it.
//!
//! Source: Marchetti, Kontothanassis, Bianchini and Scott 1995, section 4.2. The paper gives no
//! numbers for `n`; the defaults are ours.

use homenode_protocol::{
    ListedProtocol, ProtocolError, ProtocolParameter, ProtocolSetting, ValueRange,
};
use serde::Serialize;

/// When a page is copied to the memory of a node that reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageReplication {
    /// Never.
    #[default]
    None,
    /// When it is mapped next, if it was mapped for that many cycles.
    Time(u64),
    /// When it is mapped next, if that many lines were fetched before it was unmapped.
    Counter(u64),
    /// When that many lines were fetched since it was mapped.
    CounterInterrupt(u64),
}

/// A policy as it is listed. The names of the fields are public.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ReplicationEntry {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What can be set after the colon.
    #[serde(rename = "parameters")]
    pub params: &'static [ProtocolParameter],
    #[serde(skip)]
    build: fn(u64) -> PageReplication,
    /// What `n` is if it is not said.
    #[serde(skip)]
    n: u64,
}

const SOURCE: &str = "Marchetti et al. 1995, section 4.2";
const FILLS: &[ProtocolParameter] = &[ProtocolParameter {
    name: "n",
    doc: "lines that are fetched from the page. Default: 32",
    values: ValueRange::Number { from: 1, to: 1_000_000 },
}];

/// Every policy, in the order of lists and documentation.
pub const REPLICATIONS: &[ReplicationEntry] = &[
    ReplicationEntry {
        name: "none",
        summary: "pages are never copied",
        source: SOURCE,
        params: &[],
        build: |_| PageReplication::None,
        n: 0,
    },
    ReplicationEntry {
        name: "time",
        summary: "a page that was mapped for n cycles is copied when it is mapped next",
        source: SOURCE,
        params: &[ProtocolParameter {
            name: "n",
            doc: "cycles for which the page was mapped. Default: 50000",
            values: ValueRange::Number { from: 1, to: 1_000_000_000_000 },
        }],
        build: PageReplication::Time,
        n: 50_000,
    },
    ReplicationEntry {
        name: "counter",
        summary: "a page of which n lines were fetched is copied when it is mapped next",
        source: SOURCE,
        params: FILLS,
        build: PageReplication::Counter,
        n: 32,
    },
    ReplicationEntry {
        name: "counter-interrupt",
        summary: "a page is copied when n lines of it were fetched since it was mapped",
        source: SOURCE,
        params: FILLS,
        build: PageReplication::CounterInterrupt,
        n: 32,
    },
];

impl PageReplication {
    /// Reads a policy.
    ///
    /// # Errors
    /// When a name, a parameter or its value is unknown.
    ///
    /// ```
    /// use homenode_directory::PageReplication;
    /// assert_eq!(PageReplication::parse("counter:n=8")?, PageReplication::Counter(8));
    /// assert_eq!(PageReplication::parse("time")?, PageReplication::Time(50_000));
    /// assert!(PageReplication::parse("always").is_err());
    /// # Ok::<(), homenode_directory::ProtocolError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, ProtocolError> {
        let setting = ProtocolSetting::parse(text, REPLICATIONS)?;
        let entry = setting.protocol;
        Ok((entry.build)(setting.value("n").unwrap_or(entry.n)))
    }
}

impl ListedProtocol for ReplicationEntry {
    const WHAT: &'static str = "replication";

    fn listing(&self) -> (&'static str, &'static [ProtocolParameter]) {
        (self.name, self.params)
    }
}
