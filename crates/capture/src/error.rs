//! Errors of recordings.

use std::io;

use homenode_trace::TraceError;

/// A program could not be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// An option is invalid.
    #[error("{option}: expected {expected}, found {found}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// Its valid values.
        expected: &'static str,
        /// Its value.
        found: String,
    },
    /// The program could not be started.
    #[error("{program}: cannot start the program: {source}; check its name and permissions")]
    Start {
        /// Program.
        program: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// No folder of `PATH` has the program.
    #[error(
        "{program}: no program of this name is in PATH; check its name, or write ./{program} for \
         one in the current folder"
    )]
    NotInPath {
        /// Program.
        program: String,
    },
    /// The program has no runtime linked in.
    #[error(
        "{program}: no reference was recorded, because the program was not linked with the \
         recorder's runtime; build it with `homenode cc` (or `homenode c++`, `homenode fortran`) \
         in place of the compiler, for compiling and for linking"
    )]
    NotInstrumented {
        /// Program.
        program: String,
    },
    /// The runtime in the program is from another release.
    #[error(
        "{program}: its runtime does not understand this recorder; build it again with the \
         `homenode cc` of this version"
    )]
    OtherRelease {
        /// Program.
        program: String,
    },
    /// The program is not for a supported instruction set.
    #[error(
        "{program}: expected a 64-bit Linux program for x86-64, aarch64 or riscv64, found {found}"
    )]
    NotEmulated {
        /// Program.
        program: String,
        /// Description of the file.
        found: String,
    },
    /// The emulator was not found.
    #[error(
        "{emulator}: no such emulator; install QEMU (on Debian: apt install qemu-user for \
         programs, qemu-system-x86 for whole systems)"
    )]
    NoEmulator {
        /// Its name.
        emulator: String,
    },
    /// The emulator is too old, or another program.
    #[error(
        "{emulator}: expected QEMU 7.2 or later, found {found:?}; name another one with --emulator"
    )]
    OtherEmulator {
        /// The emulator.
        emulator: String,
        /// First line of what it prints as its version.
        found: String,
    },
    /// The emulator was built without plugins.
    #[error(
        "{emulator}: this QEMU was built without plugins, as statically linked ones are (Debian's \
         qemu-user from 9.1 on); name one that was built with --enable-plugins, with --emulator"
    )]
    NoPlugins {
        /// The emulator.
        emulator: String,
    },
    /// The emulator ran, and nothing was recorded.
    #[error(
        "{program}: no reference was recorded: the emulator did not run the program; what it said \
         is above (a program for another instruction set needs its libraries: --sysroot)"
    )]
    NothingEmulated {
        /// Program.
        program: String,
    },
    /// The emulator failed by an assertion of its own before anything was recorded.
    #[error(
        "{program}: no reference was recorded: QEMU itself failed, by an assertion of its own that \
         it printed above, not the program; try another version of QEMU, with --emulator"
    )]
    EmulatorFailed {
        /// Program.
        program: String,
    },
    /// A file of a whole system is unreadable.
    #[error("{path}: cannot read the {what}: {source}; name a file that you may read")]
    Unreadable {
        /// Purpose of the file.
        what: &'static str,
        /// Its name.
        path: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The emulator failed before the start mark.
    #[error(
        "{kernel}: no reference was recorded: QEMU ended with {ending}; what it said is above \
         (check the kernel, and the options for QEMU)"
    )]
    SystemFailed {
        /// The system's kernel.
        kernel: String,
        /// Exit code or signal.
        ending: String,
    },
    /// The system ended by itself before the start mark.
    #[error(
        "{kernel}: no reference was recorded: the system powered itself off, or its kernel \
         panicked, before anything in it ran `/homenode/mark start`; what it said is above"
    )]
    NoMark {
        /// Its kernel.
        kernel: String,
    },
    /// The system did not run the start mark in time.
    #[error(
        "{kernel}: no reference was recorded: nothing in the system ran `/homenode/mark start` \
         within {limit_s} seconds; what it said is above (--start-within gives it more time)"
    )]
    NoMarkYet {
        /// Its kernel.
        kernel: String,
        /// Time limit in seconds.
        limit_s: u32,
    },
    /// A system call of the recorder failed.
    #[error("cannot {action}: {source}")]
    System {
        /// The failed action, for the message.
        action: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The caller asked to stop; the trace has the references so far.
    #[error("recording was interrupted after {references} references; the trace holds them")]
    Interrupted {
        /// References in the trace.
        references: u64,
    },
    /// The trace could not be written. The program continued to its end, unrecorded.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

impl CaptureError {
    /// The error of a program that could not be started.
    pub(crate) fn start(program: &str, source: io::Error) -> Self {
        let program = program.to_owned();
        // Without a folder in its name it was searched for in `PATH`.
        if source.kind() == io::ErrorKind::NotFound && !program.contains('/') {
            return Self::NotInPath { program };
        }
        Self::Start { program, source }
    }
}
