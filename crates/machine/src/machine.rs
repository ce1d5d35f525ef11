//! A machine of any kind.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use homenode_base::BlockSize;

use crate::bus::Bus;
use crate::cached::CachedMachine;
use crate::controller::ControllerMachine;
use crate::directory::DirectoryMachine;
use crate::error::MachineError;
use crate::file::{Description, MachineFile};
use crate::kind::MachineKind;
use crate::multicore::LinkModel;
use crate::plain::PlainMachine;
use crate::priced::{PriceModel, PricedMachine};
use crate::table::TABLE;

/// A machine.
#[derive(Clone, Debug)]
pub enum Machine {
    /// Prices of references and moves, or of page-coherence events.
    Priced(PricedMachine),
    /// Processors with coherent caches.
    Cached(CachedMachine),
    /// Numbers that only the kind's engine knows.
    Plain(PlainMachine),
}

impl From<PriceModel> for MachineKind {
    fn from(model: PriceModel) -> Self {
        match model {
            PriceModel::Placement => Self::Placement,
            PriceModel::PageCoherence => Self::PageCoherence,
        }
    }
}

impl Machine {
    /// Reads a machine as users write it: a name in [`TABLE`], the path of a TOML file, or prices
    /// in place: `prices:r=15,R=59[,g=4,G=40]`.
    ///
    /// # Errors
    /// When there is no such machine or its description is faulty.
    ///
    /// ```
    /// use homenode_machine::{Machine, MachineKind};
    /// assert_eq!(Machine::parse("bus-smp")?.kind(), MachineKind::Bus);
    /// assert_eq!(Machine::parse("prices:r=15,R=59")?.kind(), MachineKind::Placement);
    /// # Ok::<(), homenode_machine::MachineError>(())
    /// ```
    pub fn parse(spec: &str) -> Result<Self, MachineError> {
        if let Some(list) = spec.strip_prefix("prices:") {
            return PricedMachine::from_price_list(spec, list).map(Self::Priced);
        }
        if let Some(preset) = TABLE.iter().find(|preset| preset.name == spec) {
            return Self::from_toml(preset.text, spec);
        }
        if spec.contains('/') || Path::new(spec).extension().is_some_and(|e| e == "toml") {
            let path = PathBuf::from(spec);
            return match read_bounded(&path) {
                Ok(text) => Self::from_toml(&text, spec),
                Err(source) => Err(MachineError::Io { path, source }),
            };
        }
        let known: Vec<&str> = TABLE.iter().map(|preset| preset.name).collect();
        Err(MachineError::Unknown { name: spec.to_owned(), known: known.join(", ") })
    }

    /// Reads a machine from TOML text; `origin` names it in errors.
    ///
    /// # Errors
    /// When the text is not a machine, or its base does not exist or is of another kind.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, MachineError> {
        let file = MachineFile::read(text, origin)?;
        let machine = match file.kind {
            MachineKind::Placement | MachineKind::PageCoherence => {
                PricedMachine::from_file(file).map(Self::Priced)
            }
            MachineKind::Bus => Bus::machine(file).map(Self::Cached),
            MachineKind::Multicore => LinkModel::machine(file).map(Self::Cached),
            MachineKind::Directory => DirectoryMachine::machine(file).map(Self::Cached),
            MachineKind::Controllers => ControllerMachine::machine(file).map(Self::Cached),
        }?;
        match machine.problem() {
            Some(problem) => Err(MachineError::File { origin: origin.to_owned(), problem }),
            None => Ok(machine),
        }
    }

    /// Checks the keys that machines of every kind have. Returns the problem, if any.
    fn problem(&self) -> Option<String> {
        let name = self.name();
        // Names stand in tables, titles and files of results.
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            let problem = "expected a text without line breaks and control characters";
            return Some(format!("name is {name:?}: {problem}"));
        }
        let size = self.block_size_bytes().map(BlockSize::new);
        size.and_then(Result::err).map(|error| format!("block_size_bytes: {error}"))
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> MachineKind {
        match self {
            Self::Priced(machine) => machine.model().into(),
            Self::Cached(machine) => machine.kind(),
            Self::Plain(machine) => machine.kind,
        }
    }

    fn description(&self) -> &Description {
        match self {
            Self::Priced(machine) => &machine.description,
            Self::Cached(machine) => &machine.description,
            Self::Plain(machine) => &machine.description,
        }
    }

    /// Name, as in the table, the file or the price list.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.description().name
    }

    /// One line about the machine.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.description().summary
    }

    /// Where its numbers come from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.description().source
    }

    /// Block size the machine is usually shown with, in bytes.
    #[must_use]
    pub fn block_size_bytes(&self) -> Option<u64> {
        match self {
            Self::Priced(machine) => machine.block_size_bytes(),
            Self::Cached(machine) => Some(machine.cache.block_size_bytes),
            Self::Plain(machine) => Some(machine.block_size_bytes),
        }
    }
}

impl PricedMachine {
    /// Reads a machine with prices as users write it; see [`Machine::parse`].
    ///
    /// # Errors
    /// When there is no such machine, its description is faulty, or it is of another kind.
    ///
    /// ```
    /// use homenode_base::BlockSize;
    /// use homenode_machine::PricedMachine;
    /// let numa = PricedMachine::parse("numa")?;
    /// assert_eq!(numa.prices(BlockSize::new(4096)?, false)?.to_string(), "r=102,R=2323");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(spec: &str) -> Result<Self, MachineError> {
        let machine = Machine::parse(spec)?;
        let (kind, wanted) = (machine.kind(), MachineKind::Placement);
        let Machine::Priced(priced) = machine else {
            return Err(MachineError::OtherKind { machine: spec.to_owned(), kind, wanted });
        };
        Ok(priced)
    }
}

impl CachedMachine {
    /// Reads a machine with caches as users write it; see [`Machine::parse`].
    ///
    /// # Errors
    /// When there is no such machine, its description is faulty, or it is of another kind.
    ///
    /// ```
    /// use homenode_base::BlockSize;
    /// use homenode_machine::CachedMachine;
    /// let machine = CachedMachine::parse("bus-smp")?;
    /// let cycles = machine.cycles(BlockSize::new(32)?)?;
    /// assert_eq!(cycles.map(|cycles| cycles.read_block_memory), Some(68));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(spec: &str) -> Result<Self, MachineError> {
        let machine = Machine::parse(spec)?;
        let (kind, wanted) = (machine.kind(), MachineKind::Bus);
        let Machine::Cached(cached) = machine else {
            return Err(MachineError::OtherKind { machine: spec.to_owned(), kind, wanted });
        };
        Ok(cached)
    }
}

/// Largest machine file: a device or a mistaken name must not fill the memory.
const FILE_BYTES_MAX: u64 = 1 << 20;

fn read_bounded(path: &Path) -> io::Result<String> {
    // Checked first, because opening a pipe blocks until another process writes to it.
    if std::fs::metadata(path)?.file_type().is_fifo() {
        let message = "it is a pipe; write the machine to a file first";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let mut text = String::new();
    let read = File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if read as u64 > FILE_BYTES_MAX {
        let message = format!("a machine file has at most {FILE_BYTES_MAX} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}
