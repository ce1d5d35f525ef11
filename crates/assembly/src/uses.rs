//! What a file's code uses that a hook keeps only in programs with such code.
//!
//! A hook where a turn ends keeps what the code around it may have in use. Most of a processor's
//! state is in use in few programs, and takes long to save; so each file with hooks announces to
//! the runtime what it uses. By the calling convention callers have none of it in use, except in
//! the same file.

use std::fmt::Write as _;

use iced_x86::{CpuidFeature, Instruction, Mnemonic};

/// The runtime's functions, which are called before the file's own constructors.
const SECTION: &str = "\t.section\t.init_array.00000,\"aw\",@init_array\n\t.balign\t8\n";

/// Functions that look at exceptions of floating-point arithmetic, or make them traps.
const OF_EXCEPTIONS: [&str; 13] = [
    "feclearexcept",
    "fedisableexcept",
    "feenableexcept",
    "fegetenv",
    "fegetexceptflag",
    "feholdexcept",
    "feraiseexcept",
    "fesetenv",
    "fesetexcept",
    "fesetexceptflag",
    "fetestexcept",
    "fetestexceptflag",
    "feupdateenv",
];

/// Beginnings of the names of Fortran's; `stop` tells which have occurred.
const FAMILIES: [&str; 4] =
    ["_gfortran_ieee_", "__ieee_exceptions_MOD_", "_gfortran_stop_", "_gfortran_error_stop_"];

/// What a file uses besides the general registers and `xmm0` to `xmm7`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    /// `xmm8` to `xmm15`.
    xmm: bool,
    /// The upper halves of the first 16 vector registers.
    ymm: bool,
    /// Other parts of vector registers, and masks.
    zmm: bool,
    /// The registers of the x87 unit, which are also those of MMX.
    x87: bool,
    /// The direction flag, set.
    direction: bool,
    /// Exceptions of floating-point arithmetic.
    exceptions: bool,
}

impl Uses {
    /// Adds what an instruction uses; what is not known may use all.
    pub(crate) fn add(&mut self, instruction: &Instruction) {
        let is_unknown = instruction.is_invalid();
        let operands = (0..instruction.op_count()).map(|operand| instruction.op_register(operand));
        let others = [instruction.memory_index(), instruction.op_mask()];
        for register in operands.chain(others) {
            if register.is_vector_register() {
                self.xmm |= register.number() >= 8;
                self.ymm |= register.is_ymm();
                self.zmm |= register.is_zmm() || register.number() >= 16;
            }
            self.zmm |= register.is_k();
            self.x87 |= register.is_mm() || register.is_st();
        }
        self.x87 |= is_unknown || instruction.cpuid_features().iter().any(is_of_x87);
        self.zmm |= is_unknown;
        self.ymm |= is_unknown;
        let sets_flags = [Mnemonic::Std, Mnemonic::Popfq, Mnemonic::Popf];
        self.direction |= is_unknown || sets_flags.contains(&instruction.mnemonic());
    }

    /// Adds what a function of a library is called for.
    pub(crate) fn add_function(&mut self, name: &str) {
        self.exceptions |=
            OF_EXCEPTIONS.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family));
    }

    /// The announcement of a file that has hooks, as text for the assembler.
    pub(crate) fn section(&self) -> String {
        let mut out = format!("{SECTION}\t.quad\t__homenode_announces\n");
        for (is_used, name) in [
            (self.xmm, "xmm"),
            (self.ymm, "ymm"),
            (self.zmm, "zmm"),
            (self.x87, "x87"),
            (self.direction, "direction"),
            (self.exceptions || self.x87, "exceptions"),
        ] {
            if is_used {
                let _ = writeln!(out, "\t.quad\t__homenode_uses_{name}");
            }
        }
        out
    }
}

fn is_of_x87(feature: &CpuidFeature) -> bool {
    use CpuidFeature::{FPU, FPU287, FPU287XL_ONLY, FPU387, FPU387SL_ONLY, MMX};
    matches!(feature, FPU | FPU287 | FPU287XL_ONLY | FPU387 | FPU387SL_ONLY | MMX)
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions};

    use super::*;

    /// The names of what the code uses.
    fn announced(code: &[u8]) -> String {
        let mut uses = Uses::default();
        Decoder::new(64, code, DecoderOptions::NONE).iter().for_each(|one| uses.add(&one));
        let section = uses.section();
        let names: Vec<&str> = section.split("__homenode_uses_").skip(1).map(str::trim).collect();
        names.iter().filter_map(|name| name.split_whitespace().next()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn common_code_announces_nothing() {
        assert_eq!(announced(b"\xf3\xa4\x48\x01\xd8"), "", "rep movsb; add rax, rbx");
        assert_eq!(announced(b"\x0f\x28\xc7\x66\x0f\x10\x38"), "", "movaps xmm0, xmm7; movupd");
    }

    #[test]
    fn every_kind_of_register_is_announced() {
        assert_eq!(announced(b"\x44\x0f\x28\x00"), "xmm", "movaps xmm8, [rax]");
        assert_eq!(announced(b"\xc5\xfc\x28\xc1"), "ymm", "vmovaps ymm0, ymm1");
        assert_eq!(announced(b"\x62\xf1\x7c\x48\x28\xc1"), "zmm", "vmovaps zmm0, zmm1");
        assert_eq!(announced(b"\x62\xe1\x7c\x08\x28\xc1"), "xmm zmm", "vmovaps xmm16, xmm1");
        assert_eq!(announced(b"\x62\xf1\x7c\x09\x28\xc1"), "zmm", "vmovaps xmm0 with k1");
        assert_eq!(announced(b"\xc5\xf8\x92\xc8"), "zmm", "kmovw k1, eax");
        assert_eq!(announced(b"\xdd\x00"), "x87 exceptions", "fld qword [rax]");
        assert_eq!(announced(b"\x0f\x6f\x00"), "x87 exceptions", "movq mm0, [rax]");
        assert_eq!(announced(b"\xfd"), "direction", "std");
        let all = "ymm zmm x87 direction exceptions";
        assert_eq!(announced(b"\x0f\x04"), all, "no instruction");
    }

    #[test]
    fn functions_that_look_at_exceptions_are_announced() {
        let announces = |name: &str| {
            let mut uses = Uses::default();
            uses.add_function(name);
            uses.section().contains("exceptions")
        };
        assert!(announces("fetestexcept") && announces("_gfortran_stop_string"));
        assert!(!announces("feof") && !announces("_gfortran_st_write"));
    }
}
