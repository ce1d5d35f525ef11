//! A turn: references of one process with no event between them, split at once.
//!
//! What a reference becomes depends on the state of its process. Nearly all of a trace are turns of
//! many references in which nothing of that changes, so that it is looked at once a turn.

use std::ops::Range;

use homenode_base::{AccessKind, Flags, ReferenceFilter, ReferenceRole};
use homenode_trace::Batch;

use super::operation::{OpKind, Operation};
use super::split::StreamSplitter;

/// The role of a reference by its kind and flags.
pub(super) struct RoleTable(Box<[[ReferenceRole; 256]; 4]>);

impl RoleTable {
    pub(super) fn new(filter: ReferenceFilter) -> Self {
        let kinds = [AccessKind::Read, AccessKind::Write, AccessKind::Atomic, AccessKind::Fetch];
        let mut roles = Box::new([[ReferenceRole::Excluded; 256]; 4]);
        for kind in kinds {
            roles[usize::from(kind.code())] = filter.roles(kind);
        }
        Self(roles)
    }

    /// The role and the operation of a row of a trace.
    #[inline]
    pub(super) fn of(&self, kind: u8, flags: u8) -> (ReferenceRole, OpKind) {
        let op = match AccessKind::from_code(kind) {
            Some(AccessKind::Read) => OpKind::Read,
            Some(AccessKind::Write) => OpKind::Write,
            Some(AccessKind::Atomic) => OpKind::Atomic,
            Some(AccessKind::Fetch) => OpKind::Fetch,
            None => return (ReferenceRole::Excluded, OpKind::Read),
        };
        (self.0[usize::from(kind & 3)][usize::from(flags)], op)
    }
}

impl StreamSplitter {
    /// Splits references without events between them.
    pub(super) fn references(&mut self, batch: &Batch, rows: Range<usize>) {
        let plain = self.addresses_are_kept() && batch.pid.is_empty();
        let mut from = rows.start;
        while from < rows.end {
            let thread = batch.thread[from];
            let process = usize::from(thread);
            if !plain || self.conditions.is_waiting(process) {
                self.reference(batch, from);
                from += 1;
                continue;
            }
            let others = batch.thread[from..rows.end].iter().position(|&other| other != thread);
            let until = others.map_or(rows.end, |turn| from + turn);
            if !self.closed[process] {
                self.turn(batch, process, from..until);
            }
            from = until;
        }
    }

    /// Splits a turn of a process that is not over and waits for nothing, if addresses are kept.
    fn turn(&mut self, batch: &Batch, process: usize, rows: Range<usize>) {
        let (operations, excluded) = (&mut self.operations[process], &mut self.excluded[process]);
        let before = operations.len();
        operations.reserve(rows.len());
        for row in rows {
            let flags = batch.flags.get(row).copied().unwrap_or(0);
            let (role, kind) = self.roles.of(batch.kind[row], flags);
            let gap = batch.gap.get(row).copied();
            if role == ReferenceRole::Excluded {
                gap.into_iter().for_each(|gap| excluded.add(gap, kind));
                continue;
            }
            let private = if role == ReferenceRole::Private { Flags::PRIVATE.0 } else { 0 };
            self.captured |= Flags(flags).contains(Flags::KERNEL);
            operations.push(Operation {
                addr: batch.addr[row],
                count: gap.map_or(self.gap, |gap| excluded.before(gap, kind)),
                kind,
                size: batch.size[row].max(1),
                flags: flags & !Flags::PRIVATE.0 | private,
                continues: false,
            });
        }
        if self.operations[process].len() > before {
            self.begun[process] = true;
            self.enter_address_space(process, 0);
        }
    }
}
