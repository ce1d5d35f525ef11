//! Whether a hook must keep the processor's flags.

use iced_x86::{FlowControl, RflagsBits};

use crate::code::Coded;

const STATUS: u32 = RflagsBits::OF
    | RflagsBits::SF
    | RflagsBits::ZF
    | RflagsBits::AF
    | RflagsBits::CF
    | RflagsBits::PF;

/// Instructions that are looked at; beyond them the flags are kept.
const DISTANCE: usize = 24;

/// Whether an instruction or a later one may read flags that were set before the first of these
/// instructions.
pub(crate) fn flags_are_live(following: &[Coded]) -> bool {
    let mut open = STATUS;
    for coded in following.iter().filter(|coded| !coded.within).take(DISTANCE) {
        let instruction = &coded.instruction;
        if instruction.rflags_read() & open != 0 {
            return true;
        }
        // The calling convention does not keep flags.
        match instruction.flow_control() {
            FlowControl::Next => {}
            FlowControl::Return
            | FlowControl::Call
            | FlowControl::IndirectCall
            | FlowControl::IndirectBranch => return false,
            _ => return true,
        }
        open &= !instruction.rflags_modified();
        if open == 0 {
            return false;
        }
    }
    true
}
