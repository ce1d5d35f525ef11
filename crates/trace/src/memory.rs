//! How much memory a process can still allocate.

use std::path::Path;

/// Files with the memory of the system and of this process's control group, which inside a
/// container is the root.
const SYSTEM: &str = "/proc/meminfo";
const GROUP: &str = "/sys/fs/cgroup";

/// Bytes that this process can allocate without swapping; `None` if unknown.
#[must_use]
pub fn available_bytes() -> Option<u64> {
    let system = std::fs::read_to_string(SYSTEM).ok().and_then(|text| of_system(&text));
    let group = of_group(Path::new(GROUP));
    system.into_iter().chain(group).min()
}

fn of_system(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The remainder of a control group's limit (version 2), if it has one.
fn of_group(folder: &Path) -> Option<u64> {
    let read = |file: &str| -> Option<u64> {
        std::fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok()
    };
    Some(read("memory.max")?.saturating_sub(read("memory.current")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_in_kilobytes() {
        let text = "MemTotal:       24684380 kB\nMemAvailable:   23882000 kB\nCached: 1 kB\n";
        assert_eq!(of_system(text), Some(23_882_000 << 10));
        assert_eq!(of_system("MemTotal: 5 kB\n"), None);
        assert_eq!(of_system("MemAvailable: much kB\n"), None);
    }

    #[test]
    fn a_control_group_has_its_limit_less_its_usage() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(of_group(folder.path()), None);
        std::fs::write(folder.path().join("memory.current"), "1000\n").unwrap();
        std::fs::write(folder.path().join("memory.max"), "max\n").unwrap();
        assert_eq!(of_group(folder.path()), None, "no limit");
        std::fs::write(folder.path().join("memory.max"), "5000\n").unwrap();
        assert_eq!(of_group(folder.path()), Some(4000));
    }
}
