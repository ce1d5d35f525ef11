//! A small workload, and traces of it.

use std::ops::ControlFlow;
use std::path::PathBuf;

use homenode_servers::{ServersError, Statistics, write};
use homenode_trace::{Summary, TraceReader};

/// Two groups that share the kernel's data, and one of a single process.
pub const SMALL: &str = r#"
name = "small"
summary = "two servers and a utility"
source = "made up"
[trace]
references = 600_000
block_bytes = 32
word_bytes = 4
turn_references = 100
seed = 7
[kernel]
code_blocks = 50
shared_blocks = 40
private_blocks = 101
call_references = 100
[locality]
loop_blocks = 4
loop_rounds = 5
code_zipf = 0.8
run_words = 4
data_zipf = 0.9
cluster_blocks = 4
[sessions]
object_blocks = 2
accesses = 6
lengths = "geometric"
zipf = 0.5
own_words = 30
[[group]]
name = "web"
processes = 4
references = 50
distinct_blocks = 1200
code_blocks = 150
code = { value = 74, source = "a table" }
data = 26
data_write = 7
shared_blocks = 40
shared_access = 2
shared_write = 0.7
kernel = 30
kernel_shared_blocks = 40
kernel_shared_access = 100
[[group]]
name = "data base"
processes = 3
references = 40
distinct_blocks = 2000
code_blocks = 200
code = 72
data = 28
data_write = 10
shared_blocks = 90
shared_access = 3
shared_write = 0.9
kernel = 20
kernel_shared_blocks = 20
kernel_shared_access = 35
[[group]]
name = "utility"
processes = 1
references = 10
distinct_blocks = 500
code_blocks = 60
code = 80
data = 20
data_write = 5
shared_blocks = 0
shared_access = 0
shared_write = 0
"#;

/// The statistics of a text.
pub fn statistics(text: &str) -> Statistics {
    Statistics::parse(text, "small.toml").unwrap()
}

/// A trace in a folder that goes with it.
pub struct Made {
    _folder: tempfile::TempDir,
    path: PathBuf,
    /// Its summary.
    pub summary: Summary,
}

impl Made {
    /// The trace of statistics.
    pub fn new(statistics: &Statistics) -> Self {
        Self::of(statistics).unwrap()
    }

    /// The trace of statistics, or why there is none.
    pub fn of(statistics: &Statistics) -> Result<Self, ServersError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.hnt");
        let go_on = &mut |_, _| ControlFlow::Continue(());
        let summary = write(statistics, "small.toml", &path, go_on)?.unwrap();
        Ok(Self { _folder: folder, path, summary })
    }

    /// A reader of it.
    pub fn reader(&self) -> TraceReader {
        TraceReader::open(&self.path).unwrap()
    }
}
