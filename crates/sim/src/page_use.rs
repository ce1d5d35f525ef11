//! Page use by node, in columns.

use homenode_directory::HomeLoad;

/// Page use by node at one point of a study, and the homes that served it. Columns with the same
/// prefix have one length; `docs/directory.md` defines them.
#[derive(Clone, Debug, Default)]
pub struct PageUseColumns {
    /// Bytes in a page.
    pub page_bytes: u64,
    /// Nodes that can be homes.
    pub nodes: u16,
    /// Names of data structures; other columns hold indices into this one.
    pub objects: Vec<String>,
    /// By page, in order of addresses: its first byte.
    pub page_address: Vec<u64>,
    /// Its last home.
    pub page_home: Vec<u16>,
    /// The object with most of its fills; the lowest address breaks ties.
    pub page_object: Vec<u32>,
    /// By page and node that filled or wrote back, in this order: index of the page.
    pub use_page: Vec<u32>,
    /// The node, or its memory if processors share one.
    pub use_node: Vec<u16>,
    /// Blocks filled.
    pub use_fills: Vec<u64>,
    /// Modified blocks written back.
    pub use_write_backs: Vec<u64>,
    /// By home and object with fills: the home at the time of the fill.
    pub served_home: Vec<u16>,
    /// Index of the object.
    pub served_object: Vec<u32>,
    /// Fills of the object that this home served.
    pub served_fills: Vec<u64>,
    /// By home, with a clock: look-ups of its controllers, their queueing delay, and their
    /// utilisation; the same for its memory.
    pub home_loads: Vec<HomeLoad>,
}
