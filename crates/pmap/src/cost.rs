//! Kernel time of the page manager's actions, in microseconds.

use serde::Serialize;

use crate::counts::PmapCounts;

/// A parameter of the cost of kernel actions.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CostParam {
    /// Name on the command line.
    pub name: &'static str,
    /// Default value, in microseconds.
    pub default_us: f64,
    /// The operation that takes this time.
    pub doc: &'static str,
    /// The source of the default.
    pub source: &'static str,
}

/// Every parameter, in the order of results.
pub const COSTS: &[CostParam] = &[
    CostParam {
        name: "local-fetch",
        default_us: 0.65,
        doc: "fetching a word from local memory",
        source: "section 3.1.1, measured",
    },
    CostParam {
        name: "local-store",
        default_us: 0.84,
        doc: "storing a word to local memory",
        source: "section 3.1.1, measured",
    },
    CostParam {
        name: "global-fetch",
        default_us: 1.5,
        doc: "fetching a word from global memory",
        source: "section 3.1.1, measured",
    },
    CostParam {
        name: "global-store",
        default_us: 1.4,
        doc: "storing a word to global memory",
        source: "section 3.1.1, measured",
    },
    CostParam {
        name: "fault",
        default_us: 147.1,
        doc: "taking a fault, deciding and mapping the page",
        source: "section 5.1: 200 local references; at 45 % stores (3.1.1) one takes 0.7355 us",
    },
    CostParam {
        name: "flush",
        default_us: 0.0,
        doc: "dropping a copy and the mapping to it, on another processor or the own one",
        source: "not given; taken as part of the fault",
    },
    CostParam {
        name: "unmap",
        default_us: 0.0,
        doc: "dropping a mapping to global memory",
        source: "not given; taken as part of the fault",
    },
    CostParam {
        name: "protect",
        default_us: 0.0,
        doc: "making a mapping read-only",
        source: "not given; taken as part of the fault",
    },
];

/// Why a cost is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cost {text:?}: {problem}")]
pub struct CostError {
    /// The cost as the user wrote it.
    pub text: String,
    /// The problem, and what is expected.
    pub problem: String,
}

/// The value of every parameter of [`COSTS`], in its order.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    values_us: Vec<f64>,
}

impl Default for Costs {
    fn default() -> Self {
        Self { values_us: COSTS.iter().map(|param| param.default_us).collect() }
    }
}

/// Kernel time by action, and the time of the references themselves, in seconds.
///
/// A page is copied word by word, as `bcopy` does (§3.1.1: there is no block transfer): a copy is a
/// global fetch and a local store per word, a sync a local fetch and a global store, a zero-fill
/// one store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct KernelTime {
    /// Faults.
    pub faults_s: f64,
    /// Zero-fills of local and global frames.
    pub zero_fills_s: f64,
    /// Copies from global to local memory.
    pub copies_s: f64,
    /// Copies from local to global memory.
    pub syncs_s: f64,
    /// Flushes.
    pub flushes_s: f64,
    /// Unmaps.
    pub unmaps_s: f64,
    /// Protects.
    pub protects_s: f64,
    /// All of the kernel's time.
    pub total_s: f64,
}

impl Costs {
    /// The defaults with some values replaced, each given as `name=microseconds`.
    ///
    /// # Errors
    /// When a name is unknown or a value is not a finite number from 0 up.
    pub fn parse<S: AsRef<str>>(given: &[S]) -> Result<Self, CostError> {
        let mut costs = Self::default();
        for text in given.iter().map(AsRef::as_ref) {
            let fail = |problem| CostError { text: text.to_owned(), problem };
            let (name, value) = text
                .split_once('=')
                .ok_or_else(|| fail("expected name=microseconds, as in fault=500".to_owned()))?;
            let place = COSTS.iter().position(|param| param.name == name).ok_or_else(|| {
                let names: Vec<&str> = COSTS.iter().map(|param| param.name).collect();
                fail(format!("there is no cost {name:?}; the costs are {}", names.join(", ")))
            })?;
            let number = value.parse().ok().filter(|us: &f64| us.is_finite() && *us >= 0.0);
            costs.values_us[place] = number.ok_or_else(|| {
                fail("expected a finite number of microseconds, 0 or more".into())
            })?;
        }
        Ok(costs)
    }

    /// The values by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static CostParam, f64)> {
        COSTS.iter().zip(self.values_us.iter().copied())
    }

    fn us(&self, name: &str) -> f64 {
        let found = self.iter().find(|(param, _)| param.name == name);
        found.map_or(0.0, |(_, us)| us)
    }

    /// Kernel time for these counts, with pages of this number of words.
    #[must_use]
    pub fn kernel_time(&self, counts: &PmapCounts, page_words: u64) -> KernelTime {
        let times = |count: u64, us: f64| real(count) * us * 1e-6;
        let words = |pages: u64, us: f64| times(pages, real(page_words) * us);
        let (fetch, store) = (self.us("local-fetch"), self.us("local-store"));
        let (far_fetch, far_store) = (self.us("global-fetch"), self.us("global-store"));
        let mut time = KernelTime {
            faults_s: times(counts.faults, self.us("fault")),
            zero_fills_s: words(counts.local_zero_fills, store)
                + words(counts.global_zero_fills, far_store),
            copies_s: words(counts.copies, far_fetch + store),
            syncs_s: words(counts.syncs, fetch + far_store),
            flushes_s: times(counts.flushes + counts.freed_copies, self.us("flush")),
            unmaps_s: times(counts.unmaps, self.us("unmap")),
            protects_s: times(counts.protects, self.us("protect")),
            total_s: 0.0,
        };
        time.total_s = time.parts().iter().map(|(_, seconds)| seconds).sum();
        time
    }

    /// Time of the references themselves, one word each, where they were served.
    #[must_use]
    pub fn reference_time_s(&self, counts: &PmapCounts) -> f64 {
        let times = |count: u64, name| real(count) * self.us(name) * 1e-6;
        times(counts.local_reads, "local-fetch")
            + times(counts.local_writes, "local-store")
            + times(counts.global_reads, "global-fetch")
            + times(counts.global_writes, "global-store")
    }

    /// G/L for this mix of reads and writes: their total time in global memory divided by that in
    /// local memory (§3.2.1); `None` without references.
    #[must_use]
    pub fn global_to_local(&self, reads: u64, writes: u64) -> Option<f64> {
        let local = real(reads) * self.us("local-fetch") + real(writes) * self.us("local-store");
        let global = real(reads) * self.us("global-fetch") + real(writes) * self.us("global-store");
        (local > 0.0).then(|| global / local)
    }
}

impl KernelTime {
    /// The parts with their names in tables.
    #[must_use]
    pub fn parts(&self) -> [(&'static str, f64); 7] {
        [
            ("faults", self.faults_s),
            ("zero-fills", self.zero_fills_s),
            ("copies", self.copies_s),
            ("syncs", self.syncs_s),
            ("flushes", self.flushes_s),
            ("unmaps", self.unmaps_s),
            ("protects", self.protects_s),
        ]
    }
}

#[expect(clippy::cast_precision_loss, reason = "times are rounded figures")]
fn real(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §3.1.1: about 2 for a mix of 45 % stores, 2.3 for fetches alone, 1.7 for stores alone.
    #[test]
    fn the_defaults_have_the_ratios_of_the_thesis() {
        let costs = Costs::default();
        let ratio = |reads, writes| (costs.global_to_local(reads, writes).unwrap() * 10.0).round();
        assert_eq!((ratio(1, 0), ratio(0, 1), ratio(55, 45)), (23.0, 17.0, 20.0));
        assert_eq!(costs.global_to_local(0, 0), None);
        let reference = 0.55 * costs.us("local-fetch") + 0.45 * costs.us("local-store");
        assert!((costs.us("fault") - 200.0 * reference).abs() < 0.05);
    }

    #[test]
    fn a_page_moves_word_by_word() {
        let counts =
            PmapCounts { faults: 2, copies: 1, syncs: 1, flushes: 3, ..PmapCounts::default() };
        let costs = Costs::parse(&["fault=100", "flush=10"]).unwrap();
        let time = costs.kernel_time(&counts, 1024);
        let expected = 200.0 + 30.0 + 1024.0 * (1.5 + 0.84 + 0.65 + 1.4);
        assert!((time.total_s * 1e6 - expected).abs() < 1e-6, "{time:?}");
    }

    #[test]
    fn faulty_costs_are_named() {
        for (text, part) in [("x=1", "local-fetch"), ("fault", "name="), ("fault=-1", "0 or more")]
        {
            let error = Costs::parse(&[text]).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
