//! Portions of operations, in memory that is used again.

use std::sync::Arc;

use super::operation::Operation;

/// Operations of one process that become known together, shared by all simulations of a trace.
pub type Portion = Arc<Vec<Operation>>;

/// Makes portions. What a portion took is used again when nobody has it any more: a trace has
/// several times more operations than fit into memory at a time, and fresh memory from the
/// operating system costs more than to simulate what is put into it.
#[derive(Default)]
pub struct PortionPool {
    /// Portions that others may still have.
    given: Vec<Portion>,
    spare: Vec<Vec<Operation>>,
}

impl PortionPool {
    /// An empty buffer.
    #[must_use]
    pub fn buffer(&mut self) -> Vec<Operation> {
        self.spare.pop().unwrap_or_default()
    }

    /// Shares what a buffer holds now.
    #[must_use]
    pub fn share(&mut self, operations: Vec<Operation>) -> Portion {
        let portion = Arc::new(operations);
        self.given.push(Arc::clone(&portion));
        portion
    }

    /// Takes back the portions that nobody has any more.
    pub fn reclaim(&mut self) {
        for portion in std::mem::take(&mut self.given) {
            match Arc::try_unwrap(portion) {
                Ok(mut operations) => {
                    operations.clear();
                    self.spare.push(operations);
                }
                Err(portion) => self.given.push(portion),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::OpKind;

    #[test]
    fn a_portion_is_used_again_once_nobody_has_it() {
        let mut pool = PortionPool::default();
        let mut operations = pool.buffer();
        operations.push(Operation::new(OpKind::Read, 8));
        let memory = operations.as_ptr();
        let portion = pool.share(operations);
        pool.reclaim();
        assert_eq!(pool.buffer().capacity(), 0, "it is still in use");
        assert_eq!(portion.len(), 1);
        drop(portion);
        pool.reclaim();
        let again = pool.buffer();
        assert_eq!((again.len(), again.as_ptr()), (0, memory));
    }
}
