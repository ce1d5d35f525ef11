//! The machines that come with the program.

/// A machine file embedded in the program.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name on the command line.
    pub name: &'static str,
    /// The TOML file.
    pub text: &'static str,
}

/// The preset of a name, whose file has that name in `machines/`.
macro_rules! preset {
    ($name:literal) => {
        Preset { name: $name, text: include_str!(concat!("../../../machines/", $name, ".toml")) }
    };
}

/// Every machine, in the order of lists and documentation. A new one is a file in `machines/` and
/// an entry here.
pub const TABLE: &[Preset] = &[
    preset!("ace"),
    preset!("butterfly"),
    preset!("cc"),
    preset!("cc+"),
    preset!("numa"),
    preset!("dsm"),
    preset!("dsm+"),
    preset!("markatos"),
    preset!("spr-2s"),
    preset!("genoa-nps4"),
    preset!("genoa-2s-nps1"),
    preset!("genoa-2s-nps4"),
    preset!("xeon-4s"),
    preset!("dram-cxl"),
    preset!("spr-2s-lines"),
    preset!("genoa-nps1-lines"),
    preset!("genoa-2s-lines"),
    preset!("bus-smp"),
    preset!("spr-2s-directory"),
    preset!("genoa-8n-directory"),
    preset!("graviton2-mesh"),
    preset!("dash-mesh"),
    preset!("alite"),
];
