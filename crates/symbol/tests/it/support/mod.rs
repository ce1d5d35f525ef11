//! A program for tests, and the compiler for it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A program with static data, a thread-local object and an inlined function.
pub const PROGRAM: &str = "\
#include <stdint.h>
uint32_t counters[16];
const char banner[12] = \"hello world\";
int started = 1;
_Thread_local long mine;
static inline __attribute__((always_inline)) void bump(int i)
{
    counters[i] += 1;
}
__attribute__((noinline)) void touch(int i)
{
    bump(i);
    mine += counters[i];
}
int main(void)
{
    static int calls;
    calls++;
    touch(started);
    return banner[3] == 'x' ? 0 : calls - 1;
}
";

/// Compiles the program, or says why the test cannot run here.
#[allow(dead_code, reason = "not all tests compile this one")]
pub fn compile(dir: &Path, flags: &[&str]) -> Option<PathBuf> {
    compile_source(dir, PROGRAM, flags)
}

/// Compiles a program, or says why the test cannot run here.
pub fn compile_source(dir: &Path, program: &str, flags: &[&str]) -> Option<PathBuf> {
    let source = dir.join("program.c");
    std::fs::write(&source, program).expect("a temporary file can be written");
    let out = dir.join("program");
    let compiled = Command::new("cc").args(flags).arg("-o").arg(&out).arg(&source).output();
    match compiled {
        Ok(result) if result.status.success() => Some(out),
        Ok(result) => {
            eprintln!("skipped: cc {flags:?}: {}", String::from_utf8_lossy(&result.stderr));
            None
        }
        Err(error) => {
            eprintln!("skipped: no C compiler `cc` here: {error}");
            None
        }
    }
}
