//! Errors of recordings.

use std::io;

use homenode_trace::TraceError;

/// A program could not be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The options make no sense.
    #[error("{option}: expected {expected}, found {found}")]
    Option {
        /// Option.
        option: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What it was.
        found: String,
    },
    /// The program could not be started.
    #[error("{program}: cannot start the program: {source}; check its name and permissions")]
    Start {
        /// Program.
        program: String,
        /// Answer of the operating system.
        source: io::Error,
    },
    /// Nothing in the program calls the recorder.
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
    /// The program cannot run in an emulator that is known here.
    #[error(
        "{program}: expected a 64-bit Linux program for x86-64, aarch64 or riscv64, found {found}"
    )]
    NotEmulated {
        /// Program.
        program: String,
        /// What it is.
        found: String,
    },
    /// There is no emulator.
    #[error(
        "{emulator}: no such emulator; install QEMU (on Debian: apt install qemu-user for \
         programs, qemu-system-x86 for whole systems)"
    )]
    NoEmulator {
        /// Its name.
        emulator: String,
    },
    /// The emulator has another plugin interface, or is no emulator.
    #[error(
        "{emulator}: expected QEMU 7.2 or later, found {found:?}; name another one with --emulator"
    )]
    OtherEmulator {
        /// The emulator.
        emulator: String,
        /// What it says it is.
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
    /// A file of a whole system cannot be read.
    #[error("{path}: cannot read the {what}: {source}; name a file that you may read")]
    Unreadable {
        /// What the file is.
        what: &'static str,
        /// Its name.
        path: String,
        /// Answer of the operating system.
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
    /// The system ran on without a start mark.
    #[error(
        "{kernel}: no reference was recorded: nothing in the system ran `/homenode/mark start` \
         within {limit_s} seconds; what it said is above (--start-within gives it more time)"
    )]
    NoMarkYet {
        /// Its kernel.
        kernel: String,
        /// How long it had.
        limit_s: u32,
    },
    /// The kernel refused something the recorder needs.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// Answer of the operating system.
        source: io::Error,
    },
    /// The caller asked to stop; what was recorded is in the trace.
    #[error("recording was interrupted after {references} references; the trace holds them")]
    Interrupted {
        /// References in the trace.
        references: u64,
    },
    /// The trace could not be written. The program ran on to its end, unrecorded.
    #[error(transparent)]
    Trace(#[from] TraceError),
}
