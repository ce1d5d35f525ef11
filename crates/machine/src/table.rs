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
    Preset { name: "markatos", text: include_str!("../../../machines/markatos.toml") },
    Preset { name: "spr-2s", text: include_str!("../../../machines/spr-2s.toml") },
    Preset { name: "genoa-nps4", text: include_str!("../../../machines/genoa-nps4.toml") },
    Preset { name: "genoa-2s-nps1", text: include_str!("../../../machines/genoa-2s-nps1.toml") },
    Preset { name: "genoa-2s-nps4", text: include_str!("../../../machines/genoa-2s-nps4.toml") },
    Preset { name: "xeon-4s", text: include_str!("../../../machines/xeon-4s.toml") },
    Preset { name: "dram-cxl", text: include_str!("../../../machines/dram-cxl.toml") },
    Preset { name: "spr-2s-lines", text: include_str!("../../../machines/spr-2s-lines.toml") },
    Preset {
        name: "genoa-nps1-lines",
        text: include_str!("../../../machines/genoa-nps1-lines.toml"),
    },
    Preset { name: "genoa-2s-lines", text: include_str!("../../../machines/genoa-2s-lines.toml") },
    Preset { name: "bus-smp", text: include_str!("../../../machines/bus-smp.toml") },
    Preset {
        name: "spr-2s-directory",
        text: include_str!("../../../machines/spr-2s-directory.toml"),
    },
    Preset {
        name: "genoa-8n-directory",
        text: include_str!("../../../machines/genoa-8n-directory.toml"),
    },
    Preset { name: "graviton2-mesh", text: include_str!("../../../machines/graviton2-mesh.toml") },
    Preset { name: "dash-mesh", text: include_str!("../../../machines/dash-mesh.toml") },
    Preset { name: "alite", text: include_str!("../../../machines/alite.toml") },
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
