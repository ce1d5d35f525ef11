//! Extents of functions in stripped code, from unwinding information.

use std::sync::Arc;

use gimli::{BaseAddresses, CieOrFde, EhFrame, UnwindSection};
use object::{Object, ObjectSection};

use crate::dwarf::{SectionReader, endian, malformed};
use crate::{SymbolError, elf};

const SECTION: &str = ".eh_frame";

/// First addresses and lengths of all functions with unwinding information, by address.
///
/// Compilers write it for every function, and it stays when a program is stripped, because
/// exceptions and debuggers walk up the stack with it.
///
/// Cost: one pass over the section.
///
/// Source: Linux Standard Base, core, section 10.6 "Exception Frames".
pub(crate) fn functions(file: &object::File<'_>) -> Result<Vec<(u64, u64)>, SymbolError> {
    let Some(section) = file.section_by_name(SECTION) else { return Ok(Vec::new()) };
    let offset = section.file_range().map_or(0, |(offset, _)| offset);
    let bytes: Arc<[u8]> = elf::section(file, SECTION)?;
    let mut frames = EhFrame::from(SectionReader::new(bytes, endian(file)));
    frames.set_address_size(if file.is_64() { 8 } else { 4 });
    let text = file.section_by_name(".text").map_or(0, |text| text.address());
    let bases = BaseAddresses::default().set_eh_frame(section.address()).set_text(text);
    let mut found = Vec::new();
    let mut entries = frames.entries(&bases);
    while let Some(entry) = entries.next().map_err(|error| malformed(offset, &error))? {
        let CieOrFde::Fde(partial) = entry else { continue };
        // An entry without a valid CIE describes no function; later ones still may.
        if let Ok(whole) = partial.parse(EhFrame::cie_from_offset) {
            found.push((whole.initial_address(), whole.len()));
        }
    }
    found.sort_unstable();
    Ok(found)
}
