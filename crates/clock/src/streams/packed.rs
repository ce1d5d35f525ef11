//! Compresses operations that are not needed soon to a quarter of their size.
//!
//! In the simulation a process may fall far behind its place in the trace: for example, while its
//! parent, which has yet to create it, is slowed down by write misses. The operations that it has
//! in the trace until then must be kept, up to half of the trace.
//!
//! An operation becomes one byte with the number of instructions before it and its *class* (kind,
//! size and flags), followed by the distance of its address from that of the last operation of the
//! same class: references to a stack, and those to one type of data, are near each other. Large
//! counts, and operations of classes beyond the 31st, are stored separately.

use homenode_base::{put_varint, unzigzag, zigzag};

use super::operation::{OpKind, Operation};

/// The first byte: the class above the count.
const COUNT_BITS: u32 = 3;
const COUNT_MASK: u8 = (1 << COUNT_BITS) - 1;
/// Escape code for a count that does not fit.
const OTHER_COUNT: u8 = COUNT_MASK;
/// Escape code for a class that does not fit.
const OTHER_CLASS: u8 = u8::MAX >> COUNT_BITS;

/// The fields that the operations of one class have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
struct OperationClass {
    kind: OpKind,
    size: u8,
    flags: u8,
    continues: bool,
}

impl OperationClass {
    fn of(operation: &Operation) -> Self {
        let &Operation { kind, size, flags, continues, .. } = operation;
        Self { kind, size, flags, continues }
    }
}

/// Operations of one process, packed.
pub(super) struct PackedOperations {
    length: usize,
    /// First bytes, each followed by a distance.
    bytes: Vec<u8>,
    /// Classes, indexed by class number.
    classes: Vec<OperationClass>,
    /// Counts that do not fit into the first byte, in order.
    counts: Vec<u32>,
    /// Operations of classes that do not fit, in order.
    others: Vec<Operation>,
}

impl PackedOperations {
    pub(super) fn new(operations: &[Operation]) -> Self {
        let mut bytes = Vec::with_capacity(4 * operations.len());
        let (mut classes, mut counts, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let mut last = [0u64; OTHER_CLASS as usize];
        for operation in operations {
            let class = number(&mut classes, OperationClass::of(operation));
            let Some(last) = last.get_mut(usize::from(class)) else {
                bytes.push(OTHER_CLASS << COUNT_BITS);
                others.push(*operation);
                continue;
            };
            let fits = u8::try_from(operation.count).ok().filter(|&count| count < OTHER_COUNT);
            let count = fits.unwrap_or_else(|| {
                counts.push(operation.count);
                OTHER_COUNT
            });
            bytes.push(class << COUNT_BITS | count);
            let distance = operation.addr.wrapping_sub(*last).cast_signed();
            *last = operation.addr;
            put_varint(&mut bytes, zigzag(distance));
        }
        Self { length: operations.len(), bytes, classes, counts, others }
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn unpack(&self, buffer: &mut Vec<Operation>) {
        let mut last = [0u64; OTHER_CLASS as usize];
        let (mut counts, mut others) = (self.counts.iter(), self.others.iter());
        let mut bytes = self.bytes.iter().copied();
        buffer.reserve(self.length);
        while let Some(first) = bytes.next() {
            let class = usize::from(first >> COUNT_BITS);
            let known = self.classes.get(class).zip(last.get_mut(class));
            let Some((&OperationClass { kind, size, flags, continues }, last)) = known else {
                buffer.extend(others.next());
                continue;
            };
            let distance = unzigzag(take_varint(&mut bytes));
            *last = last.wrapping_add(distance.cast_unsigned());
            let count = first & COUNT_MASK;
            let other = if count == OTHER_COUNT { counts.next().copied() } else { None };
            let (addr, count) = (*last, other.unwrap_or(u32::from(count)));
            buffer.push(Operation { addr, count, kind, size, flags, continues });
        }
    }
}

/// The number of a class, which is added if it is new; [`OTHER_CLASS`] if there are too many.
#[inline]
fn number(classes: &mut Vec<OperationClass>, class: OperationClass) -> u8 {
    let known = classes.iter().position(|&known| known == class);
    match u8::try_from(known.unwrap_or(classes.len())) {
        Ok(number) if number < OTHER_CLASS => {
            if known.is_none() {
                classes.push(class);
            }
            number
        }
        _ => OTHER_CLASS,
    }
}

/// Decodes the number that [`put_varint`] appended.
#[inline]
fn take_varint(bytes: &mut impl Iterator<Item = u8>) -> u64 {
    let (mut value, mut shift) = (0, 0);
    for byte in bytes {
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    value
}

#[cfg(test)]
mod tests {
    use homenode_base::Rng;

    use super::*;

    #[test]
    fn unpacked_operations_equal_the_packed_ones() {
        let mut rng = Rng::new(5);
        let kinds = [OpKind::Read, OpKind::Write, OpKind::Acquire, OpKind::Depart, OpKind::Exit];
        for sizes in [1, 3, 200] {
            let mut operation = || {
                let below = 1 << rng.below(64);
                let kind = kinds[usize::try_from(rng.below(5)).unwrap()];
                let byte = u8::try_from(rng.below(sizes)).unwrap();
                let most = 1 << rng.below(33);
                let count = u32::try_from(rng.below(most)).unwrap();
                let (size, flags, continues) = (byte, byte % 2, byte % 3 == 1);
                Operation { addr: rng.below(below), count, kind, size, flags, continues }
            };
            let mut operations: Vec<Operation> = (0..1000).map(|_| operation()).collect();
            operations[7].addr = u64::MAX;
            let packed = PackedOperations::new(&operations);
            assert_eq!(packed.len(), 1000);
            let mut unpacked = operations[..3].to_vec();
            packed.unpack(&mut unpacked);
            assert_eq!(unpacked[3..], operations, "{} of other classes", packed.others.len());
            assert_eq!(sizes > 100, !packed.others.is_empty());
        }
    }

    #[test]
    fn nearby_references_take_two_bytes() {
        let read = |at: u64| Operation { size: 8, ..Operation::new(OpKind::Read, 1 << 40 | at) };
        let operations: Vec<Operation> = (0..1000).map(|at| read(at * 8)).collect();
        assert!(PackedOperations::new(&operations).bytes.len() < 2020);
    }
}
