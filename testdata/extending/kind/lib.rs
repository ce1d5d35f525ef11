//! Machines at which every reference takes the same number of cycles.
#![forbid(unsafe_code)]

use homenode_trace::Batch;

/// References of a trace, and their cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlatCounts {
    /// References.
    pub references: u64,
    /// Cycles of all of them, one after the other.
    pub cycles: u64,
}

impl FlatCounts {
    /// Adds the references of a batch at this price for each.
    pub fn push(&mut self, batch: &Batch, reference_cycles: u64) {
        let references = batch.len() as u64;
        self.references += references;
        self.cycles += references * reference_cycles;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reference_has_the_price() {
        let mut counts = FlatCounts::default();
        counts.push(&Batch { addr: vec![0; 3], ..Batch::default() }, 5);
        assert_eq!(counts, FlatCounts { references: 3, cycles: 15 });
    }
}
