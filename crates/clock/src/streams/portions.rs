//! Portions of operations, in recycled memory.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::operation::Operation;
use super::packed::PackedOperations;

/// Operations of one process that become known together, shared by all simulations of a trace.
#[derive(Clone, Default)]
pub struct Portion {
    pub(super) operations: Arc<Vec<Operation>>,
    derived: Arc<Derived>,
}

/// What simulations derive from the operations of a portion: the first one that needs it.
#[derive(Default)]
struct Derived {
    /// The packed form for simulations that do not need the operations soon.
    packed: OnceLock<PackedOperations>,
    /// The number of references.
    references: OnceLock<u64>,
}

impl Portion {
    /// A portion outside of any pool.
    #[must_use]
    pub fn new(operations: Vec<Operation>) -> Self {
        Self { operations: Arc::new(operations), derived: Arc::default() }
    }

    /// The packed form. The operations themselves are freed with the last portion that has them.
    pub(super) fn packed(self) -> PackedPortion {
        self.derived.packed.get_or_init(|| PackedOperations::new(&self.operations));
        PackedPortion(self.derived)
    }

    /// The number of references; the rest of one that straddles pages is none.
    pub(super) fn references(&self) -> u64 {
        *self.derived.references.get_or_init(|| {
            let begins =
                |operation: &&Operation| operation.kind.is_reference() && !operation.continues;
            self.iter().filter(begins).count() as u64
        })
    }
}

impl Deref for Portion {
    type Target = [Operation];

    fn deref(&self) -> &[Operation] {
        &self.operations
    }
}

impl std::fmt::Debug for Portion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A [`Portion`] of which only the packed form is kept.
pub(super) struct PackedPortion(Arc<Derived>);

impl PackedPortion {
    pub(super) fn len(&self) -> usize {
        self.0.packed.get().map_or(0, PackedOperations::len)
    }

    /// The unpacked operations, in the memory of `spare` if this is its last owner.
    pub(super) fn unpacked(&self, spare: Arc<Vec<Operation>>) -> Arc<Vec<Operation>> {
        let mut operations = Arc::try_unwrap(spare).unwrap_or_default();
        operations.clear();
        if let Some(packed) = self.0.packed.get() {
            packed.unpack(&mut operations);
        }
        Arc::new(operations)
    }
}

/// Makes portions and recycles their memory when no simulation uses them any more. A trace has many
/// times more operations than fit into memory, and fresh memory from the operating system costs
/// more than simulating the operations in it.
#[derive(Default)]
pub struct PortionPool {
    /// Memory of portions that may still be in use.
    shared: Vec<Arc<Vec<Operation>>>,
    spare: Vec<Vec<Operation>>,
}

impl PortionPool {
    /// An empty buffer.
    #[must_use]
    pub fn buffer(&mut self) -> Vec<Operation> {
        self.spare.pop().unwrap_or_default()
    }

    /// Makes a portion of the operations in a buffer.
    #[must_use]
    pub fn share(&mut self, operations: Vec<Operation>) -> Portion {
        let portion = Portion::new(operations);
        self.shared.push(Arc::clone(&portion.operations));
        portion
    }

    /// Takes back the memory of portions that are no longer in use.
    pub fn reclaim(&mut self) {
        for portion in std::mem::take(&mut self.shared) {
            match Arc::try_unwrap(portion) {
                Ok(mut operations) => {
                    operations.clear();
                    self.spare.push(operations);
                }
                Err(portion) => self.shared.push(portion),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::OpKind;

    #[test]
    fn memory_is_reused_once_its_portion_is_dropped() {
        let mut pool = PortionPool::default();
        let mut operations = pool.buffer();
        operations.push(Operation::new(OpKind::Read, 8));
        let memory = operations.as_ptr();
        let portion = pool.share(operations);
        pool.reclaim();
        assert_eq!(pool.buffer().capacity(), 0, "it is still in use");
        assert_eq!(portion.len(), 1);
        let packed = portion.packed();
        pool.reclaim();
        let again = pool.buffer();
        assert_eq!((again.len(), again.as_ptr()), (0, memory), "only the packed form is in use");
        let unpacked = packed.unpacked(Arc::new(again));
        assert_eq!((unpacked.as_ptr(), packed.len()), (memory, 1));
        assert_eq!(*unpacked, [Operation::new(OpKind::Read, 8)]);
    }
}
