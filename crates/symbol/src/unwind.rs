//! Extents of functions in stripped code, from unwinding information.

use std::cell::OnceCell;
use std::sync::Arc;

use gimli::{BaseAddresses, CieOrFde, EhFrame, UnwindSection};
use object::{Object, ObjectSection};

use crate::dwarf::{SectionReader, endian};
use crate::elf;

const SECTION: &str = ".eh_frame";

/// First addresses and lengths of all functions with unwinding information.
///
/// Compilers write it for every function, and it stays when a program is stripped, because
/// exceptions and debuggers walk up the stack with it.
///
/// Source: Linux Standard Base, core, section 10.6 "Exception Frames".
pub(crate) struct Extents {
    section: EhFrame<SectionReader>,
    bases: BaseAddresses,
    /// By address; read when they are first asked about, which is where a name is missing.
    known: OnceCell<Vec<(u64, u64)>>,
}

impl Extents {
    /// Those of a file; none where the section is absent or damaged.
    pub(crate) fn of(file: &object::File<'_>) -> Self {
        let bytes: Arc<[u8]> = elf::section(file, SECTION).unwrap_or_else(|_| Arc::new([]));
        let mut section = EhFrame::from(SectionReader::new(bytes, endian(file)));
        section.set_address_size(if file.is_64() { 8 } else { 4 });
        let start = |name| file.section_by_name(name).map_or(0, |section| section.address());
        let bases = BaseAddresses::default().set_eh_frame(start(SECTION)).set_text(start(".text"));
        Self { section, bases, known: OnceCell::new() }
    }

    /// First address of the function that contains an address.
    ///
    /// Cost: the first question passes over the section.
    pub(crate) fn start(&self, addr: u64) -> Option<u64> {
        // Without the section fewer queries have an answer, as without debug information.
        let known = self.known.get_or_init(|| self.read().unwrap_or_default());
        let after = known.partition_point(|&(start, _)| start <= addr);
        let &(start, length) = known[..after].last()?;
        (addr - start < length).then_some(start)
    }

    fn read(&self) -> Result<Vec<(u64, u64)>, gimli::Error> {
        let mut found = Vec::new();
        let mut entries = self.section.entries(&self.bases);
        while let Some(entry) = entries.next()? {
            let CieOrFde::Fde(partial) = entry else { continue };
            // An entry without a valid CIE describes no function; later ones still may.
            if let Ok(whole) = partial.parse(EhFrame::cie_from_offset) {
                found.push((whole.initial_address(), whole.len()));
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}
