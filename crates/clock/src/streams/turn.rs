//! Splits a turn at once: consecutive references of one process with no event between them.
//!
//! The operation that a reference becomes depends on the state of its process. Nearly all of a
//! trace consists of long turns in which that state does not change, so it is checked once per
//! turn.

use std::ops::Range;

use homenode_base::{AccessKind, Flags, ReferenceFilter, ReferenceRole};
use homenode_trace::{Batch, ThreadTurn};

use super::operation::{OpKind, Operation};
use super::split::StreamSplitter;

/// The role and operation flags of references, by their kind and flags.
pub(super) struct RoleTable {
    roles: Box<[[ReferenceRole; 256]; 4]>,
    /// Flags of operations, by kind and flags of the reference.
    flags: Box<[[u8; 256]; 4]>,
    /// References whose kind has a code below this one are never excluded, whatever their flags.
    included: u8,
}

const OPERATIONS: [OpKind; 4] = [OpKind::Read, OpKind::Write, OpKind::Atomic, OpKind::Fetch];

impl RoleTable {
    pub(super) fn new(filter: ReferenceFilter) -> Self {
        let roles = Box::new(filter.all_roles());
        let mut flags = Box::new([[0; 256]; 4]);
        for (flags, roles) in flags.iter_mut().zip(roles.iter()) {
            for ((flags, role), bits) in flags.iter_mut().zip(roles).zip(0..=u8::MAX) {
                *flags = with_role(bits, *role);
            }
        }
        let all = |roles: &&[ReferenceRole; 256]| {
            roles.iter().all(|role| *role != ReferenceRole::Excluded)
        };
        let included = roles.iter().take_while(all).zip(1..).last().map_or(0, |(_, codes)| codes);
        Self { roles, flags, included }
    }

    /// The role and the operation of a row of a trace.
    #[inline]
    pub(super) fn of(&self, kind: u8, flags: u8) -> (ReferenceRole, OpKind) {
        match AccessKind::from_code(kind) {
            Some(_) => (self.roles[code(kind)][usize::from(flags)], operation(kind)),
            None => (ReferenceRole::Excluded, OpKind::Read),
        }
    }

    /// Whether references of these kinds are counted, whatever their flags.
    #[inline]
    fn include(&self, kinds: &[u8]) -> bool {
        kinds.iter().fold(0, |most, &kind| most.max(kind)) < self.included
    }
}

/// The flags of an operation: those of the reference, private only if that is its role.
pub(super) fn with_role(flags: u8, role: ReferenceRole) -> u8 {
    let private = if role == ReferenceRole::Private { Flags::PRIVATE.0 } else { 0 };
    flags & !Flags::PRIVATE.0 | private
}

/// The operation of a reference whose kind is a valid code.
#[inline]
fn operation(kind: u8) -> OpKind {
    OPERATIONS[code(kind)]
}

/// A kind as a table index. The trace reader checks that it is a valid code.
#[inline]
fn code(kind: u8) -> usize {
    usize::from(kind & 3)
}

impl StreamSplitter {
    /// Splits consecutive references without events between them.
    pub(super) fn references(&mut self, batch: &Batch, rows: Range<usize>) {
        let plain = self.addresses_are_kept() && batch.pid.is_empty();
        for ThreadTurn { thread, mut rows } in batch.turns.within(rows) {
            let process = usize::from(thread);
            while !rows.is_empty() && (!plain || self.conditions.is_waiting(process)) {
                self.reference(process, batch, rows.start);
                rows.start += 1;
            }
            if !rows.is_empty() && !self.closed[process] {
                self.turn(batch, process, rows);
            }
        }
    }

    /// Splits a turn of a process that has not ended and does not wait, if addresses are kept.
    fn turn(&mut self, batch: &Batch, process: usize, rows: Range<usize>) {
        let before = self.operations[process].len();
        if self.roles.include(&batch.kind[rows.clone()]) {
            self.counted_turn(batch, process, rows);
        } else {
            self.mixed_turn(batch, process, rows);
        }
        if self.operations[process].len() > before {
            self.begun[process] = true;
            self.enter_address_space(process, 0);
        }
    }

    /// Splits a turn of which some references may be excluded.
    fn mixed_turn(&mut self, batch: &Batch, process: usize, rows: Range<usize>) {
        let (operations, excluded) = (&mut self.operations[process], &mut self.excluded[process]);
        for row in rows {
            let flags = batch.flags.get(row).copied().unwrap_or(0);
            let (role, kind) = self.roles.of(batch.kind[row], flags);
            let gap = batch.gap.get(row).copied();
            if role == ReferenceRole::Excluded {
                gap.into_iter().for_each(|gap| excluded.add(gap, kind));
                continue;
            }
            self.captured |= Flags(flags).contains(Flags::KERNEL);
            operations.push(Operation {
                addr: batch.addr[row],
                count: gap.map_or(self.gap, |gap| excluded.before(gap, kind)),
                kind,
                size: batch.size[row].max(1),
                flags: with_role(flags, role),
                continues: false,
            });
        }
    }

    /// Splits a turn of which no reference is excluded, as in nearly all turns: column by column,
    /// without looking up the role of each.
    fn counted_turn(&mut self, batch: &Batch, process: usize, rows: Range<usize>) {
        let Some(first) = rows.clone().next() else { return };
        let (kinds, sizes) = (&batch.kind[rows.clone()], &batch.size[rows.clone()]);
        let addrs = &batch.addr[rows.clone()];
        let gaps = batch.gap.get(rows.clone());
        let flags = batch.flags.get(rows);
        let operations = &mut self.operations[process];
        let from = operations.len();
        let made = addrs.iter().zip(kinds).zip(sizes).map(|((&addr, &kind), &size)| Operation {
            size: size.max(1),
            count: self.gap,
            ..Operation::new(operation(kind), addr)
        });
        operations.extend(made);
        let made = &mut operations[from..];
        if let Some(flags) = flags {
            self.captured |=
                Flags(flags.iter().fold(0, |all, &some| all | some)).contains(Flags::KERNEL);
            for ((operation, &flags), &kind) in made.iter_mut().zip(flags).zip(kinds) {
                operation.flags = self.roles.flags[code(kind)][usize::from(flags)];
            }
        }
        let Some(gaps) = gaps else { return };
        let excluded = &mut self.excluded[process];
        let fetches = kinds.contains(&AccessKind::Fetch.code());
        for (operation, &gap) in made.iter_mut().zip(gaps) {
            operation.count = gap;
        }
        made[0].count = excluded.before(batch.gap[first], made[0].kind);
        if fetches || excluded.fetches() {
            for (operation, &gap) in made.iter_mut().zip(gaps).skip(1) {
                operation.count = excluded.before(gap, operation.kind);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use homenode_base::Rng;

    use super::*;

    /// References of three threads in turns, some of which are excluded.
    fn batch(rng: &mut Rng, flags: bool, gaps: bool, fetches: bool) -> Batch {
        let mut batch = Batch::default();
        while batch.addr.len() < 400 {
            let (thread, most) = (u16::try_from(rng.below(3)).unwrap(), rng.below(12));
            for _ in 0..most {
                let byte = |rng: &mut Rng, below| u8::try_from(rng.below(below)).unwrap();
                batch.turns.push(thread);
                batch.kind.push(byte(rng, if fetches { 4 } else { 3 }));
                batch.size.push(byte(rng, 9));
                batch.addr.push(rng.below(1 << 20));
                if flags {
                    batch.flags.push(byte(rng, 16));
                }
                if gaps {
                    batch.gap.push(u32::try_from(rng.below(5)).unwrap());
                }
            }
        }
        batch
    }

    #[test]
    fn a_turn_splits_into_the_same_operations_as_its_single_references() {
        let mut rng = Rng::new(1);
        let roles = [ReferenceRole::Excluded, ReferenceRole::Private, ReferenceRole::Shared];
        for case in 0..48 {
            let bit = |nth: u32| case >> nth & 1 == 0;
            let private = roles[case / 16];
            let filter =
                ReferenceFilter { private, synchronisation: bit(0), fetches: rng.below(2) == 0 };
            let new = || StreamSplitter::new(3, filter, &[], None).with_gap(2);
            let (mut turns, mut single) = (new(), new());
            for _ in 0..4 {
                let batch = batch(&mut rng, bit(1), bit(2), bit(3));
                turns.references(&batch, 0..batch.len());
                for (row, thread) in batch.turns.threads().enumerate() {
                    single.reference(usize::from(thread), &batch, row);
                }
                assert_eq!(turns.operations, single.operations, "{filter:?}");
            }
            assert_eq!((turns.captured, &turns.begun), (single.captured, &single.begun));
        }
    }
}
