//! The emulator of unmodified programs and whole systems, and its command line.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::child::{Launch, find};
use crate::error::CaptureError;
use crate::options::{Order, RecordOptions};

/// Instruction sets: number in ELF headers, and QEMU's name.
const MACHINES: &[(u16, &str)] = &[(62, "x86_64"), (183, "aarch64"), (243, "riscv64")];
const SYSTEM_EMULATOR: &str = "qemu-system-x86_64";
/// The first release of QEMU that can count the instructions of several processors.
const REPEATS_FROM: u32 = 10;
/// Makes a system's time advance by 4 ns an executed instruction.
const REPEATING: &[&str] = &["-icount", "shift=2,sleep=off", "-rtc", "base=2026-01-01,clock=vm"];
const HEADER_BYTES: usize = 20;
/// The processor of aarch64 programs, unless the user's variable names one: QEMU shows plugins most
/// loads and stores of SVE not at all, and libraries use it where it exists.
const AARCH64_PROCESSOR: &str = "max,sve=off,sme=off";
const PROCESSOR_VARIABLE: &str = "QEMU_CPU";

/// The emulator of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emulator {
    /// Path of the emulator.
    pub path: PathBuf,
    /// Its name and version, for the metadata: `qemu-x86_64 7.2.22`.
    pub version: String,
    /// Whether the program can also run without it.
    pub native: bool,
    /// The processor that it emulates; empty: its default, or the one of the user's variable.
    pub processor: &'static str,
}

impl Emulator {
    /// Finds the emulator of a program by the program's ELF header.
    ///
    /// # Errors
    /// When the program is not one of a known instruction set, there is no emulator for it, or the
    /// plugin does not work in the emulator.
    pub fn for_program(options: &RecordOptions) -> Result<Self, CaptureError> {
        if options.whole_system() {
            return Self::for_system(options);
        }
        let name = &options.argv[0];
        let start = |source| CaptureError::start(name, source);
        let program = find(OsStr::new(name)).map_err(start)?;
        let mut header = Vec::new();
        File::open(&program)
            .and_then(|file| file.take(HEADER_BYTES as u64).read_to_end(&mut header))
            .map_err(start)?;
        let machine = machine(&header)
            .map_err(|found| CaptureError::NotEmulated { program: name.clone(), found })?;
        let emulator = format!("qemu-{machine}");
        let path = if options.emulator.is_empty() {
            find(OsStr::new(&emulator)).map_err(|_| CaptureError::NoEmulator { emulator })?
        } else {
            PathBuf::from(&options.emulator)
        };
        let version = version(&path)?;
        let chosen = std::env::var_os(PROCESSOR_VARIABLE).is_some();
        let processor = if machine == "aarch64" && !chosen { AARCH64_PROCESSOR } else { "" };
        Ok(Self { path, version, native: machine == std::env::consts::ARCH, processor })
    }

    fn for_system(options: &RecordOptions) -> Result<Self, CaptureError> {
        readable("kernel", &options.argv[0])?;
        readable("initramfs", &options.system.initramfs)?;
        let path = if options.emulator.is_empty() {
            find(OsStr::new(SYSTEM_EMULATOR))
                .map_err(|_| CaptureError::NoEmulator { emulator: SYSTEM_EMULATOR.to_owned() })?
        } else {
            PathBuf::from(&options.emulator)
        };
        let version = version(&path)?;
        if options.system.repeatable && release(&version) < REPEATS_FROM {
            return Err(CaptureError::Option {
                option: "repeatable",
                expected: "QEMU 10 or later: earlier ones stop when they count the instructions \
                           of several processors",
                found: version,
            });
        }
        Ok(Self { path, version, native: false, processor: "" })
    }

    /// The command line of a machine with processors, memory and a serial line only. Its memory is
    /// a
    /// `memfd`, which the plugin finds by its name; the kernel must not randomise its address, so
    /// that the plugin finds the kernel's data.
    fn machine(&self, options: &RecordOptions) -> Vec<String> {
        let system = &options.system;
        let memory = format!("{}M", system.memory_mib);
        let append = format!("console=ttyS0 nokaslr panic=-1 {}", system.append);
        let backend = format!("memory-backend-memfd,id=ram,share=on,size={memory}");
        let plugin = plugin_words(options);
        let path = self.path.to_string_lossy();
        let words = [
            path.as_ref(),
            "-nodefaults",
            "-no-user-config",
            "-no-reboot",
            "-seed",
            "1",
            "-display",
            "none",
            "-serial",
            "stdio",
            "-accel",
            "tcg,thread=single",
            "-machine",
            "pc,memory-backend=ram",
            "-object",
            &backend,
            "-m",
            &memory,
            "-smp",
            &system.processors.to_string(),
            "-kernel",
            &options.argv[0],
            "-initrd",
            &system.initramfs,
            "-append",
            append.trim_end(),
            "-plugin",
            &plugin,
        ];
        let repeating = if system.repeatable { REPEATING } else { &[] };
        let own = words.iter().chain(repeating).map(|&word| word.to_owned());
        own.chain(options.argv[1..].iter().cloned()).collect()
    }

    /// The command to start: the emulator with the plugin, on the program.
    ///
    /// # Errors
    /// When the program cannot be found.
    pub fn launch(&self, options: &RecordOptions) -> Result<Launch, CaptureError> {
        if options.whole_system() {
            return Ok(Launch { argv: self.machine(options), preload: None });
        }
        let name = &options.argv[0];
        let program = find(OsStr::new(name)).map_err(|source| CaptureError::start(name, source))?;
        let mut argv = vec![self.path.to_string_lossy().into_owned()];
        let mut add = |words: &[&str]| argv.extend(words.iter().map(|&word| word.to_owned()));
        if options.order != Order::Free {
            add(&["-seed", "1"]);
        }
        add(&["-plugin", &plugin_words(options)]);
        if !self.processor.is_empty() {
            add(&["-cpu", self.processor]);
        }
        if !options.sysroot.is_empty() {
            add(&["-L", &options.sysroot]);
        }
        if let Some(preloaded) = std::env::var_os("LD_PRELOAD") {
            add(&["-E", &format!("LD_PRELOAD={}", preloaded.to_string_lossy())]);
        }
        add(&["-0", name, &program.to_string_lossy()]);
        argv.extend_from_slice(&options.argv[1..]);
        Ok(Launch { argv, preload: Some(options.plugin.clone()) })
    }
}

/// The value of `-plugin`. QEMU expects a comma in an option's value twice.
fn plugin_words(options: &RecordOptions) -> String {
    let fetches = if options.fetches { ",fetches=on" } else { "" };
    format!("file={}{fetches}", options.plugin.replace(',', ",,"))
}

/// The instruction set of an ELF header, or a description of what was found instead.
fn machine(header: &[u8]) -> Result<&'static str, String> {
    if header.starts_with(b"#!") {
        return Err("a script; give its interpreter and the script's name instead".to_owned());
    }
    if header.len() < HEADER_BYTES || !header.starts_with(b"\x7fELF") {
        return Err("a file that is no ELF program".to_owned());
    }
    if header[4] != 2 || header[5] != 1 {
        return Err("a program that is not 64-bit and little-endian".to_owned());
    }
    let number = u16::from_le_bytes([header[18], header[19]]);
    MACHINES
        .iter()
        .find(|(known, _)| *known == number)
        .map(|(_, name)| *name)
        .ok_or_else(|| format!("a program for ELF machine {number}"))
}

/// Checks that a file can be read, for an error message better than QEMU's.
fn readable(what: &'static str, path: &str) -> Result<(), CaptureError> {
    let unreadable = |source| CaptureError::Unreadable { what, path: path.to_owned(), source };
    let found = File::open(path).and_then(|file| file.metadata()).map_err(unreadable)?;
    if found.is_file() { Ok(()) } else { Err(unreadable(io::Error::other("it is no file"))) }
}

/// The name and version of an emulator; an error if it has no plugins, or another plugin interface.
fn version(path: &Path) -> Result<String, CaptureError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let answer = Command::new(path)
        .arg("-version")
        .output()
        .map_err(|_| CaptureError::NoEmulator { emulator: path.display().to_string() })?;
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let number = text.split_whitespace().skip_while(|word| *word != "version").nth(1);
    let number = number.unwrap_or_default().trim_end_matches(',');
    let mut parts = number.split('.').map_while(|part| part.parse::<u32>().ok());
    match (parts.next(), parts.next()) {
        (Some(7), Some(2..)) | (Some(8..), Some(_)) if !has_plugins(path) => {
            Err(CaptureError::NoPlugins { emulator: path.display().to_string() })
        }
        (Some(7), Some(2..)) | (Some(8..), Some(_)) => Ok(format!("{name} {number}")),
        _ => Err(CaptureError::OtherEmulator {
            emulator: path.display().to_string(),
            found: text.lines().next().unwrap_or("nothing").to_owned(),
        }),
    }
}

fn release(version: &str) -> u32 {
    let number = version.rsplit(' ').next().and_then(|number| number.split('.').next());
    number.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// Whether an emulator was built with plugins, as statically linked ones are not.
fn has_plugins(path: &Path) -> bool {
    Command::new(path)
        .arg("-help")
        .output()
        .is_ok_and(|answer| String::from_utf8_lossy(&answer.stdout).contains("-plugin"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::SystemOptions;

    fn header(class: u8, machine: u16) -> Vec<u8> {
        let mut bytes = b"\x7fELF".to_vec();
        bytes.extend([class, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0]);
        bytes.extend(machine.to_le_bytes());
        bytes
    }

    #[test]
    fn machines_are_read_from_elf_headers() {
        assert_eq!(machine(&header(2, 62)), Ok("x86_64"));
        assert_eq!(machine(&header(2, 243)), Ok("riscv64"));
        assert!(machine(&header(1, 62)).unwrap_err().contains("64-bit"));
        assert!(machine(&header(2, 21)).unwrap_err().contains("21"));
        assert!(machine(b"#!/bin/sh\n").unwrap_err().contains("script"));
        assert!(machine(b"").is_err());
    }

    #[test]
    fn the_program_comes_last_and_under_its_own_name() {
        let emulator = Emulator {
            path: "/x/qemu".into(),
            version: "qemu 7.2".to_owned(),
            native: true,
            processor: "max",
        };
        let options = RecordOptions {
            argv: vec!["sh".to_owned(), "-c".to_owned(), "exit".to_owned()],
            plugin: "/a,b.so".to_owned(),
            sysroot: "/root".to_owned(),
            ..RecordOptions::default()
        };
        let launch = emulator.launch(&options).unwrap();
        assert_eq!(launch.preload.as_deref(), Some("/a,b.so"));
        assert!(launch.argv.contains(&"file=/a,,b.so".to_owned()));
        let chosen = launch.argv.iter().position(|word| word == "-cpu").unwrap();
        assert_eq!(launch.argv[chosen + 1], "max");
        let tail: Vec<_> = launch.argv.iter().rev().take(4).collect();
        assert_eq!((tail[0].as_str(), tail[1].as_str(), tail[3].as_str()), ("exit", "-c", "sh"));
        assert!(tail[2].ends_with("/sh"));
    }

    #[test]
    fn a_system_has_its_kernel_initramfs_and_further_options() {
        let emulator = Emulator {
            path: "/x/qemu".into(),
            version: "qemu 7.2".to_owned(),
            native: false,
            processor: "",
        };
        let options = RecordOptions {
            argv: vec!["vmlinuz".to_owned(), "-drive".to_owned(), "file=d".to_owned()],
            via: "qemu-system".to_owned(),
            plugin: "/a,b.so".to_owned(),
            system: SystemOptions { initramfs: "i.gz".to_owned(), ..SystemOptions::default() },
            ..RecordOptions::default()
        };
        let launch = emulator.launch(&options).unwrap();
        assert_eq!(launch.preload, None);
        let after = |word: &str| {
            let at = launch.argv.iter().position(|other| other == word).unwrap();
            launch.argv[at + 1].clone()
        };
        assert_eq!(after("-kernel"), "vmlinuz");
        assert_eq!(after("-initrd"), "i.gz");
        assert_eq!(after("-smp"), "4");
        assert_eq!(after("-plugin"), "file=/a,,b.so");
        assert!(after("-append").contains("nokaslr"));
        assert_eq!(launch.argv.last().unwrap(), "file=d");
    }

    #[test]
    fn a_release_is_the_first_number() {
        assert_eq!(release("qemu-system-x86_64 10.0.2"), 10);
        assert_eq!(release("qemu-x86_64 7.2.22"), 7);
        assert_eq!(release(""), 0);
    }

    #[test]
    fn other_programs_are_refused_as_emulators() {
        assert!(matches!(version(Path::new("/no/such")), Err(CaptureError::NoEmulator { .. })));
        let wrong = version(Path::new("/bin/true"));
        assert!(matches!(wrong, Err(CaptureError::OtherEmulator { .. })), "{wrong:?}");
    }
}
