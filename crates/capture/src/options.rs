//! Options of a recording, and its summary.

use serde::{Deserialize, Serialize};

use crate::error::CaptureError;

/// The order in which threads run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// One at a time, in turns of `quantum` references: every recording gives the same trace.
    #[default]
    Deterministic,
    /// In parallel, with synchronisation in the order of logical clocks: every recording of a
    /// program without data races gives the same trace.
    Logical,
    /// In parallel, with a sequence number every `quantum` references.
    Free,
}

/// Options of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordOptions {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The trace to write.
    pub output: String,
    /// How references are recorded: `cc`, `qemu` or `qemu-system`.
    pub via: String,
    /// With `qemu`, the plugin, built for this machine.
    pub plugin: String,
    /// With `qemu`, the emulator; empty: the one for the program's instruction set.
    pub emulator: String,
    /// With `qemu`, where the program's libraries are, for another instruction set; may be empty.
    pub sysroot: String,
    /// With `qemu` and `qemu-system`, also record instruction fetches.
    pub fetches: bool,
    /// In which order threads run.
    pub order: Order,
    /// References a thread makes in a turn, from 1 to 10^9. In logical order the unit in which
    /// clocks are compared: it determines the order of operations, and how references of threads
    /// that ran in parallel are merged.
    pub quantum: u32,
    /// In deterministic order: 0 for turns of exactly `quantum` references; else the seed of random
    /// turns of 1 to less than two quanta.
    pub seed: u32,
    /// zstd level of the trace, 1 to 22.
    pub level: i32,
    /// Also run the program without recording, first, and report the slowdown.
    pub native: bool,
    /// With `cc`, the uninstrumented program that is then run, as an instrumented one is slower
    /// even without a recorder. With `qemu` that is the program itself, and this is empty.
    pub native_program: String,
    /// With `qemu-system`, the machine; `argv` is then the kernel and further options for QEMU.
    pub system: SystemOptions,
}

/// A whole system to record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SystemOptions {
    /// The first file system, as a compressed cpio archive.
    pub initramfs: String,
    /// Virtual processors, 1 to 255.
    pub processors: u32,
    /// Memory in MiB, 64 to 3072: more would not be contiguous in physical addresses.
    pub memory_mib: u32,
    /// Further words for the kernel's command line; may be empty.
    pub append: String,
    /// Whether virtual time counts instructions, so that every recording gives the same trace.
    pub repeatable: bool,
    /// Seconds within which the system must run `/homenode/mark start`, at least 1.
    pub start_within_s: u32,
}

impl Default for SystemOptions {
    fn default() -> Self {
        Self {
            initramfs: String::new(),
            processors: 4,
            memory_mib: 512,
            append: String::new(),
            repeatable: false,
            start_within_s: 600,
        }
    }
}

impl SystemOptions {
    fn check(&self) -> Result<(), CaptureError> {
        if self.initramfs.is_empty() {
            return bad("initramfs", "a file system for the system to boot", "nothing".to_owned());
        }
        if !(1..=255).contains(&self.processors) {
            return bad("processors", "1 to 255", self.processors.to_string());
        }
        if !(64..=3072).contains(&self.memory_mib) {
            return bad("memory", "64 to 3072 MiB", self.memory_mib.to_string());
        }
        if self.start_within_s == 0 {
            return bad("start_within", "at least 1 second", self.start_within_s.to_string());
        }
        Ok(())
    }
}

impl Default for RecordOptions {
    fn default() -> Self {
        Self {
            argv: Vec::new(),
            output: String::new(),
            via: "cc".to_owned(),
            plugin: String::new(),
            emulator: String::new(),
            sysroot: String::new(),
            fetches: false,
            order: Order::default(),
            quantum: 100,
            seed: 0,
            level: 3,
            native: false,
            native_program: String::new(),
            system: SystemOptions::default(),
        }
    }
}

impl RecordOptions {
    /// Whether the program runs in an emulator.
    #[must_use]
    pub fn emulated(&self) -> bool {
        self.via == "qemu" || self.whole_system()
    }

    /// Whether a kernel and all its processes run in the emulator.
    #[must_use]
    pub fn whole_system(&self) -> bool {
        self.via == "qemu-system"
    }

    /// Checks the options.
    ///
    /// # Errors
    /// With the option, what it may be and what it was.
    pub fn check(&self) -> Result<(), CaptureError> {
        self.check_program()?;
        if self.output.is_empty() {
            return bad("output", "the name of the trace to write", "nothing".to_owned());
        }
        if self.whole_system() {
            self.system.check()?;
            let others = [
                ("order", self.order != Order::Deterministic),
                ("quantum", self.quantum != Self::default().quantum),
                ("seed", self.seed != 0),
                ("native", self.native),
                ("sysroot", !self.sysroot.is_empty()),
            ];
            if let Some((option, _)) = others.iter().find(|(_, given)| *given) {
                let expected = "nothing, with qemu-system, where it has no meaning";
                return bad(option, expected, "something else".to_owned());
            }
        }
        let timed = self.native && !self.emulated();
        if timed == self.native_program.is_empty() {
            let expected = "an uninstrumented program with native, and only there, without qemu";
            return bad("native_program", expected, self.native_program.clone());
        }
        if !(1..=1_000_000_000).contains(&self.quantum) {
            return bad("quantum", "1 to 1000000000 references", self.quantum.to_string());
        }
        if self.via == "qemu" && self.order == Order::Logical {
            let expected = "deterministic or free with --via qemu: logical needs a program built \
                            with homenode cc, and --via cc";
            return bad("order", expected, "logical".to_owned());
        }
        if self.seed != 0 && self.order != Order::Deterministic {
            let expected =
                "0, or --order deterministic: only there the lengths of turns make other orders";
            return bad("seed", expected, self.seed.to_string());
        }
        if !(1..=22).contains(&self.level) {
            return bad("level", "1 to 22", self.level.to_string());
        }
        Ok(())
    }

    /// Checks the options that choose the program and the way of recording.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn check_program(&self) -> Result<(), CaptureError> {
        if self.argv.is_empty() {
            return bad("argv", "a program and its arguments", "nothing".to_owned());
        }
        if self.argv.iter().any(|word| word.contains('\0')) {
            return bad("argv", "words without a zero byte", "one".to_owned());
        }
        if self.via != "cc" && !self.emulated() {
            return bad("via", "cc, qemu or qemu-system", self.via.clone());
        }
        if self.emulated() == self.plugin.is_empty() {
            return bad("plugin", "a plugin with qemu, and only there", self.plugin.clone());
        }
        Ok(())
    }
}

/// The error of an invalid option.
fn bad(option: &'static str, expected: &'static str, found: String) -> Result<(), CaptureError> {
    Err(CaptureError::Option { option, expected, found })
}

/// Summary of a recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordSummary {
    /// The trace.
    pub output: String,
    /// References.
    pub references: u64,
    /// Events.
    pub events: u64,
    /// Largest number of threads at one time.
    pub threads: u32,
    /// Wall time of the recorded run.
    pub wall_time_s: f64,
    /// References recorded per second.
    pub references_per_second: f64,
    /// Bytes of the trace.
    pub bytes: u64,
    /// Exit code of the program, if it ended by itself.
    pub exit_code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// Wall time without recording, if measured.
    pub native_time_s: Option<f64>,
    /// Recorded wall time over native wall time, if measured.
    pub slowdown: Option<f64>,
    /// How often the turn was taken from a thread that waited in code without hooks: if not 0, two
    /// recordings may differ.
    pub forced_turns: u32,
    /// How often a thread returned from waiting for something outside the program: if not 0, two
    /// recordings may differ.
    pub outside_waits: u32,
    /// With `qemu`, how often the program asked for the number of a process or thread, which the
    /// kernel chooses: if not 0, two recordings may differ in what depends on such numbers.
    pub process_numbers: u32,
    /// Threads that were not recorded: those beyond the limit, and those that the program made by a
    /// `clone` of its own. Their references are missing or attributed to the thread that made them,
    /// and two recordings may differ.
    pub lost_threads: u32,
    /// In logical order, source lines with data races, as `sor.c:88`: if there are any, the order
    /// is one of several, and two recordings may differ.
    pub races: Vec<String>,
    /// What accesses memory and is not recorded because it has no hook, as
    /// `12 instructions in macros of the assembler (a.c)`.
    pub not_hooked: Vec<String>,
    /// In logical order, number of signals and cancellations that reached a thread at an arbitrary
    /// place: if not 0, two recordings may differ.
    pub signals: u32,
    /// What determined the order, as in the trace's metadata.
    pub order: String,
    /// Content checksum of the trace.
    pub checksum: String,
    /// With `qemu`, executed instructions whose accesses the emulator does not show: SVE loads and
    /// stores of aarch64.
    pub unseen: u64,
    /// Whether QEMU itself failed, by an assertion of its own: the trace ends there.
    pub emulator_failed: bool,
    /// Calls of `exec` behind which nothing was recorded.
    pub executions: u32,
    /// Children of `fork` that were not recorded.
    pub unrecorded_children: u32,
    /// Traces of child processes, and of programs that `exec` started.
    pub children: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_options_are_refused() {
        let good = RecordOptions {
            argv: vec!["a".to_owned()],
            output: "t.hnt".to_owned(),
            ..RecordOptions::default()
        };
        good.check().unwrap();
        let bad = [
            RecordOptions { argv: Vec::new(), ..good.clone() },
            RecordOptions { output: String::new(), ..good.clone() },
            RecordOptions { via: "qemu".to_owned(), ..good.clone() },
            RecordOptions { via: "perf".to_owned(), ..good.clone() },
            RecordOptions { native: true, ..good.clone() },
            RecordOptions { native_program: "a.native".to_owned(), ..good.clone() },
            RecordOptions { via: "qemu-system".to_owned(), ..good.clone() },
            RecordOptions { quantum: 0, ..good.clone() },
            RecordOptions { seed: 1, order: Order::Free, ..good.clone() },
            RecordOptions { seed: 1, order: Order::Logical, ..good.clone() },
            RecordOptions { level: 23, ..good.clone() },
            RecordOptions { argv: vec!["a\0b".to_owned()], ..good },
        ];
        for options in bad {
            let error = options.check().unwrap_err().to_string();
            assert!(error.contains("expected"), "{error}");
        }
    }

    #[test]
    fn invalid_systems_are_refused() {
        let system = SystemOptions { initramfs: "i".to_owned(), ..SystemOptions::default() };
        let good = RecordOptions {
            argv: vec!["k".to_owned()],
            output: "t.hnt".to_owned(),
            via: "qemu-system".to_owned(),
            plugin: "p.so".to_owned(),
            system: system.clone(),
            ..RecordOptions::default()
        };
        good.check().unwrap();
        let bad = [
            RecordOptions { seed: 1, ..good.clone() },
            RecordOptions { quantum: 50, ..good.clone() },
            RecordOptions { native: true, ..good.clone() },
            RecordOptions { order: Order::Free, ..good.clone() },
            RecordOptions { order: Order::Logical, ..good.clone() },
            RecordOptions {
                system: SystemOptions { memory_mib: 4096, ..system.clone() },
                ..good.clone()
            },
            RecordOptions {
                system: SystemOptions { start_within_s: 0, ..system.clone() },
                ..good.clone()
            },
            RecordOptions { system: SystemOptions { processors: 0, ..system }, ..good },
        ];
        for options in bad {
            let error = options.check().unwrap_err().to_string();
            assert!(error.contains("expected"), "{error}");
        }
    }

    #[test]
    fn options_come_from_json() {
        let text = r#"{"argv":["p"],"output":"t","order":"free","quantum":7}"#;
        let options: RecordOptions = serde_json::from_str(text).unwrap();
        assert_eq!((options.order, options.quantum, options.level), (Order::Free, 7, 3));
    }
}
