//! The machines that come with the program.

/// A machine file embedded in the program.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name on the command line.
    pub name: &'static str,
    /// The TOML file.
    pub text: &'static str,
}

/// Every machine, in the order of lists and documentation. A new one is a file in `machines/` and
/// an entry here.
pub const TABLE: &[Preset] = &[
    Preset { name: "ace", text: include_str!("../../../machines/ace.toml") },
    Preset { name: "butterfly", text: include_str!("../../../machines/butterfly.toml") },
    Preset { name: "cc", text: include_str!("../../../machines/cc.toml") },
    Preset { name: "cc+", text: include_str!("../../../machines/cc+.toml") },
    Preset { name: "numa", text: include_str!("../../../machines/numa.toml") },
    Preset { name: "dsm", text: include_str!("../../../machines/dsm.toml") },
    Preset { name: "dsm+", text: include_str!("../../../machines/dsm+.toml") },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_file_is_in_the_table() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
            .collect();
        files.sort();
        let mut listed: Vec<String> = TABLE.iter().map(|p| p.name.to_owned()).collect();
        listed.sort();
        assert_eq!(files, listed);
    }
}
