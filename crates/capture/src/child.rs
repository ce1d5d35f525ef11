//! The traced program as a child process.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::spawn::{Program, spawn};

/// The text on the new program's stack is padded to a multiple of this.
const TEXT_STEP_BYTES: usize = 1 << 16;
/// The number of pointers to it is padded to a multiple of this, more than most environments need.
const POINTER_STEP: usize = 256;
const FD_VARIABLE: &str = "HOMENODE_FD";
const PAD_VARIABLE: &str = "HOMENODE_PAD";
const PRELOAD_VARIABLE: &str = "LD_PRELOAD";
/// High, so that the program's own files get the same descriptors as without recording.
const FD_PREFERRED: RawFd = 900;
/// How long a program may take to end after SIGTERM before it is killed.
const PATIENCE: Duration = Duration::from_secs(2);

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Exit code, if it ended by itself.
    pub exit_code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
}

/// The program that is being recorded.
#[derive(Debug)]
pub struct Traced {
    pid: libc::pid_t,
    ending: Option<Ending>,
    asked_to_end: Option<Instant>,
}

/// The path of a program, found through `PATH` as the system does.
pub fn find(program: &OsStr) -> io::Result<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Ok(PathBuf::from(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
}

/// What to start: a program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The value of `LD_PRELOAD`, if it is to be set.
    pub preload: Option<String>,
}

impl Traced {
    /// Starts a program, with the shared area if it is to be recorded.
    pub fn start(launch: &Launch, area: Option<RawFd>) -> io::Result<Self> {
        let argv = &launch.argv;
        let first = argv.first().ok_or(io::ErrorKind::InvalidInput)?;
        let path = find(OsStr::new(first))?;
        let mut environment: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        for name in [FD_VARIABLE, PAD_VARIABLE] {
            environment.remove(OsStr::new(name));
        }
        if let Some(preload) = &launch.preload {
            environment.insert(PRELOAD_VARIABLE.into(), preload.into());
        }
        let target = descriptor();
        if area.is_some() {
            environment.insert(FD_VARIABLE.into(), format!("{target:010}").into());
        }
        let mut program = program(&path, argv, &environment)?;
        if area.is_some() {
            pad(&mut program)?;
        }
        let recorder = own_number();
        let pid = spawn(&program, || {
            area.map_or(Ok(()), |fd| prepare(fd, target))?;
            end_with(recorder)
        })?;
        Ok(Self { pid, ending: None, asked_to_end: None })
    }

    /// Starts a program without input and output, to measure its time.
    pub fn start_quietly(argv: &[String]) -> io::Result<Self> {
        let first = argv.first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(find(OsStr::new(first))?);
        command.arg0(first).args(&argv[1..]);
        command.env_remove(FD_VARIABLE).env_remove(PAD_VARIABLE);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let recorder = own_number();
        // SAFETY: between fork and exec only system calls that POSIX allows there.
        unsafe { command.pre_exec(move || end_with(recorder)) };
        let child = command.spawn()?;
        let pid = libc::pid_t::try_from(child.id()).unwrap_or_default();
        Ok(Self { pid, ending: None, asked_to_end: None })
    }

    /// Waits for the end of the program.
    pub fn wait(&mut self) -> io::Result<()> {
        self.wait_for(0)
    }

    /// How the program has ended; `None` while it runs.
    pub fn ending(&mut self) -> io::Result<Option<Ending>> {
        self.wait_for(libc::WNOHANG)?;
        Ok(self.ending)
    }

    fn wait_for(&mut self, options: libc::c_int) -> io::Result<()> {
        let mut status = 0;
        while self.ending.is_none() {
            // SAFETY: the status outlives the call.
            match unsafe { libc::waitpid(self.pid, &raw mut status, options) } {
                0 => break,
                -1 => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
                _ => {
                    let status = ExitStatus::from_raw(status);
                    self.ending =
                        Some(Ending { exit_code: status.code(), signal: status.signal() });
                }
            }
        }
        Ok(())
    }

    /// Asks the program to end; kills it if it has not ended within [`PATIENCE`] of the first call.
    pub fn end(&mut self) {
        let signal = match self.asked_to_end {
            None => libc::SIGTERM,
            Some(since) if since.elapsed() > PATIENCE => libc::SIGKILL,
            Some(_) => return,
        };
        self.asked_to_end.get_or_insert_with(Instant::now);
        self.kill(signal);
    }

    fn kill(&self, signal: libc::c_int) {
        if self.ending.is_none() {
            // SAFETY: the child has not been waited for, so the number has not been reused.
            unsafe { libc::kill(self.pid, signal) };
        }
    }
}

impl Drop for Traced {
    /// Kills the program, which must not continue without its recorder.
    fn drop(&mut self) {
        self.kill(libc::SIGKILL);
        // `drop` cannot return an error.
        let _ = self.wait();
    }
}

/// The mappings of a process, as in `/proc/PID/maps`; empty if it has ended.
#[must_use]
pub fn maps(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default()
}

/// Whether a process exists and maps a recorder's memory, which `exec` ends.
#[must_use]
pub fn shares_memory(pid: u32) -> bool {
    maps(pid).lines().any(|line| line.contains("/memfd:homenode"))
}

/// The program at `path` with these arguments and this environment.
fn program(
    path: &Path,
    argv: &[String],
    environment: &BTreeMap<OsString, OsString>,
) -> io::Result<Program> {
    let variable = |(name, value): (&OsString, &OsString)| {
        CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())
    };
    Ok(Program {
        path: CString::new(path.as_os_str().as_bytes())?,
        arguments: argv
            .iter()
            .map(|word| CString::new(word.as_bytes()))
            .collect::<Result<_, _>>()?,
        environment: environment.iter().map(variable).collect::<Result<_, _>>()?,
    })
}

fn own_number() -> libc::pid_t {
    libc::pid_t::try_from(std::process::id()).unwrap_or_default()
}

/// Runs in the child: has the kernel kill it when the recorder is killed or the thread that started
/// it ends. Processes that the program has started continue, unrecorded.
fn end_with(recorder: libc::pid_t) -> io::Result<()> {
    // SAFETY: plain system calls on numbers.
    let (tied, parent) =
        unsafe { (libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL), libc::getppid()) };
    if tied == 0 && parent != recorder {
        // The recorder has ended in the meantime.
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

/// Runs in the child: turns address randomisation off, and gives the area its descriptor number.
fn prepare(fd: RawFd, target: RawFd) -> io::Result<()> {
    // SAFETY: plain system calls on numbers.
    unsafe {
        let persona = libc::personality(0xffff_ffff);
        if persona != -1 {
            let wanted = libc::c_ulong::from(persona.cast_unsigned())
                | libc::c_ulong::from(libc::ADDR_NO_RANDOMIZE.cast_unsigned());
            libc::personality(wanted);
        }
        if libc::dup2(fd, target) < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

fn descriptor() -> RawFd {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure outlives the call.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    let most = RawFd::try_from(limit.rlim_cur).unwrap_or(RawFd::MAX);
    FD_PREFERRED.min(most - 1)
}

/// Pads a program's environment so that the addresses of its stack and arguments do not depend on
/// the environment, nor on the path or name by which the program was started. The runtime removes
/// the padding from the environment.
///
/// The kernel writes downwards from the top of the stack (`fs/exec.c`, `fs/binfmt_elf.c`): the path
/// of the program's file, the text of its environment and of its arguments, the name last; and from
/// the multiple of 16 bytes below it the pointers to that text, and below them the stack begins. So
/// the text without the name is padded, and the pointers together with the bytes of the name.
fn pad(program: &mut Program) -> io::Result<()> {
    let bytes = |text: &[CString]| -> usize {
        text.iter().map(|word| word.as_bytes_with_nul().len()).sum()
    };
    let (name, others) = program.arguments.split_at(1);
    let text = program.path.as_bytes_with_nul().len() + bytes(others);
    // The name's end is 8 bytes above a multiple of 16, and 16 bytes are as much as two pointers.
    let name_pointers = (bytes(name) + 7) / 16 * 2;
    let last = 1;
    let pointers = program.arguments.len() + program.environment.len() + last + name_pointers;
    let empty = CString::new(format!("{PAD_VARIABLE}="))?;
    let lacking = pointers.next_multiple_of(POINTER_STEP) - pointers;
    program.environment.extend(std::iter::repeat_n(empty.clone(), lacking));
    let text = text + bytes(&program.environment) + bytes(std::slice::from_ref(&empty));
    let lacking = text.next_multiple_of(TEXT_STEP_BYTES) - text;
    program.environment.push(CString::new(format!("{PAD_VARIABLE}={}", "x".repeat(lacking)))?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(words: &[&str]) -> Launch {
        Launch { argv: words.iter().map(|&word| word.to_owned()).collect(), preload: None }
    }

    /// Bytes of text without the name, and the number of pointers plus the 8-byte words of the
    /// name.
    fn filled(path: &str, arguments: &[&str], environment: &[&str]) -> (usize, usize) {
        let text = |words: &[&str]| words.iter().map(|&word| CString::new(word).unwrap()).collect();
        let mut program = Program {
            path: CString::new(path).unwrap(),
            arguments: text(arguments),
            environment: text(environment),
        };
        pad(&mut program).unwrap();
        let words = program.arguments[1..].iter().chain(&program.environment);
        let bytes: usize = words.map(|word| word.as_bytes().len() + 1).sum();
        let pointers = program.arguments.len() + program.environment.len();
        // The name lies in front of text that begins at 8 modulo 16.
        let begin = 1_000_008 - program.arguments[0].as_bytes_with_nul().len();
        let name = 1_000_000 - begin / 16 * 16;
        (path.len() + 1 + bytes, pointers + name / 8)
    }

    #[test]
    fn text_and_pointers_are_padded_to_round_sums() {
        let round = (TEXT_STEP_BYTES, POINTER_STEP);
        let long = "n".repeat(200);
        assert_eq!(filled("/bin/a", &["a"], &[]), round);
        for length in 1..60 {
            assert_eq!(filled("/b", &[&long[..length], "-n", "1"], &["A=b", "C=d"]), round);
        }
        assert_eq!(filled(&long, &[&long, &long], &[&long, "E="]), round);
        let many = vec!["A="; POINTER_STEP];
        assert_eq!(filled("/b", &["b"], &many), (TEXT_STEP_BYTES, 2 * POINTER_STEP));
    }

    #[test]
    fn a_missing_program_is_an_error() {
        assert!(find(OsStr::new("homenode-no-such-program")).is_err());
        assert!(Traced::start(&plain(&["/no/such/program"]), None).is_err());
        assert!(Traced::start(&plain(&[]), None).is_err());
    }

    #[test]
    fn exit_codes_and_signals_are_distinguished() {
        let mut child = Traced::start(&plain(&["sh", "-c", "exit 7"]), None).unwrap();
        let ending = loop {
            if let Some(ending) = child.ending().unwrap() {
                break ending;
            }
        };
        assert_eq!(ending, Ending { exit_code: Some(7), signal: None });
        let mut child = Traced::start(&plain(&["sleep", "60"]), None).unwrap();
        child.end();
        let ending = loop {
            if let Some(ending) = child.ending().unwrap() {
                break ending;
            }
        };
        assert_eq!(ending, Ending { exit_code: None, signal: Some(libc::SIGTERM) });
    }
}
