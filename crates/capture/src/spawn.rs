//! Starts a program without copying the page tables of the process.
//!
//! `Command` of the standard library uses `fork` if there is a `pre_exec` closure, which takes
//! milliseconds in a Python program with its libraries, and causes page faults afterwards. Here the
//! child shares the memory until it runs its program, as in `posix_spawn`, which has no such
//! closure.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;

const STACK_BYTES: usize = 1 << 16;
const SIGNALS: c_int = 64;

/// What to start.
pub struct Program {
    /// File of the program.
    pub path: CString,
    /// Its arguments, from its name on.
    pub arguments: Vec<CString>,
    /// Its environment.
    pub environment: Vec<CString>,
}

/// Data for the child, in shared memory.
struct Handover<'a, F> {
    path: &'a CStr,
    arguments: &'a [*const c_char],
    environment: &'a [*const c_char],
    prepare: F,
    /// Set by the child: `errno` if the program cannot be run, else 0.
    error: c_int,
}

/// Runs `prepare` and then a program in a new process; returns the process number. `prepare` may
/// only make system calls: it must not allocate memory or take locks.
pub fn spawn(program: &Program, prepare: impl Fn() -> io::Result<()>) -> io::Result<libc::pid_t> {
    let (arguments, environment) = (pointers(&program.arguments), pointers(&program.environment));
    let mut handover = Handover {
        path: &program.path,
        arguments: &arguments,
        environment: &environment,
        prepare,
        error: 0,
    };
    let pid = start(&mut handover)?;
    if handover.error == 0 {
        return Ok(pid);
    }
    // SAFETY: the child has ended, and only this function has its number.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
    Err(io::Error::from_raw_os_error(handover.error))
}

/// Pointers to the words, and a null pointer at the end.
fn pointers(words: &[CString]) -> Vec<*const c_char> {
    words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect()
}

/// Makes the child. Returns when the child runs its program or has ended.
fn start<F: Fn() -> io::Result<()>>(handover: &mut Handover<'_, F>) -> io::Result<libc::pid_t> {
    let mut stack = vec![0_u128; STACK_BYTES / 16];
    let argument: *mut c_void = std::ptr::from_mut(handover).cast();
    // SAFETY: the child has a stack of its own, and this thread is suspended until the child no
    // longer uses the shared memory. No handler of ours runs in the child: signals are blocked.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let pid = libc::clone(run::<F>, stack.as_mut_ptr_range().end.cast(), flags, argument);
        let error = io::Error::last_os_error();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        if pid < 0 { Err(error) } else { Ok(pid) }
    }
}

/// The main function of the child.
extern "C" fn run<F: Fn() -> io::Result<()>>(argument: *mut c_void) -> c_int {
    // SAFETY: `start` passes a handover of this type, and does not touch it meanwhile.
    let handover = unsafe { &mut *argument.cast::<Handover<'_, F>>() };
    unblock_signals();
    let failure = match (handover.prepare)() {
        Ok(()) => {
            // SAFETY: strings and arrays end with a zero, and outlive the call.
            unsafe {
                libc::execvpe(
                    handover.path.as_ptr(),
                    handover.arguments.as_ptr(),
                    handover.environment.as_ptr(),
                );
            }
            io::Error::last_os_error()
        }
        Err(error) => error,
    };
    handover.error = failure.raw_os_error().unwrap_or(libc::EINVAL);
    // SAFETY: ends only the child, and runs no exit handlers in the shared memory.
    unsafe { libc::_exit(127) }
}

/// Resets handlers and unblocks signals, as a new program expects. Python ignores SIGPIPE and
/// SIGXFSZ, which the program must not inherit.
fn unblock_signals() {
    // SAFETY: system calls on memory of this frame; handlers are the child's own.
    unsafe {
        for signal in 1..=SIGNALS {
            let mut action: libc::sigaction = std::mem::zeroed();
            let known = libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0;
            let caught =
                action.sa_sigaction != libc::SIG_IGN && action.sa_sigaction != libc::SIG_DFL;
            if known && (caught || signal == libc::SIGPIPE || signal == libc::SIGXFSZ) {
                action.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &raw const action, std::ptr::null_mut());
            }
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, variable: &str) -> Program {
        let text = |text: &str| CString::new(text).unwrap();
        Program {
            path: text("/bin/sh"),
            arguments: ["sh", "-c", script].map(text).to_vec(),
            environment: vec![text(variable)],
        }
    }

    fn exit_code(pid: libc::pid_t) -> c_int {
        let mut status = 0;
        // SAFETY: the status outlives the call.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
        libc::WEXITSTATUS(status)
    }

    #[test]
    fn a_program_has_its_arguments_and_environment() {
        let program = shell("test \"$COLOUR\" = red -a -z \"$HOME\" && exit 7", "COLOUR=red");
        assert_eq!(exit_code(spawn(&program, || Ok(())).unwrap()), 7);
    }

    #[test]
    fn failures_before_the_program_runs_are_errors() {
        let refused = || Err(io::Error::from_raw_os_error(libc::EACCES));
        let error = spawn(&shell("exit 0", ""), refused).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EACCES));
        let missing = Program { path: c"/no/such/program".to_owned(), ..shell("exit 0", "") };
        assert_eq!(spawn(&missing, || Ok(())).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_program_has_no_signals_blocked_or_ignored_by_us() {
        for (name, number) in [("PIPE", libc::SIGPIPE), ("XFSZ", libc::SIGXFSZ)] {
            // SAFETY: as Python does at its start; no other test depends on it.
            unsafe { libc::signal(number, libc::SIG_IGN) };
            let program = shell(&format!("kill -{name} $$; exit 0"), "A=b");
            let pid = spawn(&program, || Ok(())).unwrap();
            let mut status = 0;
            // SAFETY: the status outlives the call.
            unsafe { libc::waitpid(pid, &raw mut status, 0) };
            assert_eq!((libc::WIFSIGNALED(status), libc::WTERMSIG(status)), (true, number));
        }
    }
}
