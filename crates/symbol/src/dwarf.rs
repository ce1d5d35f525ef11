//! Checks of debug information before the resolver reads it.

use gimli::RunTimeEndian;
use object::Object;

use crate::SymbolError;

/// A section's bytes, shared by all users.
pub(crate) type SectionReader = gimli::EndianArcSlice<RunTimeEndian>;

/// Deepest nesting of inlined functions that is accepted. Compilers stay below 100; the resolver
/// recurses once per level, so a malicious file could exhaust its stack.
const NESTING_MAX: usize = 512;

/// The byte order of a file.
pub(crate) fn endian(file: &object::File<'_>) -> RunTimeEndian {
    if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big }
}

/// Damage found in the section `.debug_info`, which begins at `offset` of the file.
pub(crate) fn malformed(offset: u64, error: &gimli::Error) -> SymbolError {
    SymbolError::Malformed {
        offset,
        part: "the debug information".to_owned(),
        reason: error.to_string(),
    }
}

/// What a pass over all entries has found out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// Greatest number of inlined functions around one entry.
    nesting: usize,
    /// Whether an entry refers to another by its offset in the section, so perhaps to one of
    /// another unit.
    pub refers: bool,
}

/// Reads all entries once, and refuses inlined functions that are nested absurdly deep.
///
/// Cost: one pass over all entries. An entry that cannot be read ends the pass over its unit, as it
/// does in the resolver.
pub(crate) fn survey(
    dwarf: &gimli::Dwarf<SectionReader>,
    offset: u64,
) -> Result<Survey, SymbolError> {
    let mut whole = Survey::default();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next().map_err(|error| malformed(offset, &error))? {
        let Ok(abbreviations) = dwarf.abbreviations(&header) else { continue };
        let Ok(entries) = header.entries_raw(&abbreviations, None) else { continue };
        let unit = survey_unit(entries);
        if unit.nesting > NESTING_MAX {
            return Err(SymbolError::Malformed {
                offset,
                part: "the debug information".to_owned(),
                reason: format!("inlined functions nested more than {NESTING_MAX} deep"),
            });
        }
        whole.nesting = whole.nesting.max(unit.nesting);
        whole.refers |= unit.refers;
    }
    Ok(whole)
}

/// Reads one unit; stops once the nesting is more than [`NESTING_MAX`].
fn survey_unit(mut entries: gimli::EntriesRaw<'_, SectionReader>) -> Survey {
    let mut open: Vec<isize> = Vec::new();
    let mut found = Survey::default();
    while !entries.is_empty() && found.nesting <= NESTING_MAX {
        let depth = entries.next_depth();
        while open.last().is_some_and(|&opened| opened >= depth) {
            open.pop();
        }
        // A unit that is damaged further on is well formed up to there, and may be deep.
        let Ok(abbreviation) = entries.read_abbreviation() else { break };
        let Some(abbreviation) = abbreviation else { continue };
        if abbreviation.tag() == gimli::DW_TAG_inlined_subroutine {
            open.push(depth);
            found.nesting = found.nesting.max(open.len());
        }
        found.refers |= abbreviation.attributes().iter().any(|at| leaves_unit(at.form()));
        if entries.skip_attributes(abbreviation.attributes()).is_err() {
            break;
        }
    }
    found
}

/// Where the line program of the first unit begins in `.debug_line`; `None` if it has none, or is
/// damaged.
pub(crate) fn line_program(dwarf: &gimli::Dwarf<SectionReader>) -> Option<usize> {
    let header = dwarf.units().next().ok()??;
    let abbreviations = dwarf.abbreviations(&header).ok()?;
    let mut entries = header.entries_raw(&abbreviations, None).ok()?;
    for attribute in entries.read_abbreviation().ok()??.attributes() {
        let attribute = entries.read_attribute(*attribute).ok()?;
        if attribute.name() == gimli::DW_AT_stmt_list
            && let gimli::AttributeValue::DebugLineRef(offset) = attribute.value()
        {
            return Some(offset.0);
        }
    }
    None
}

/// Whether values of a form may refer to an entry of another unit. A type's signature also does,
/// which is not followed.
fn leaves_unit(form: gimli::DwForm) -> bool {
    matches!(
        form,
        gimli::DW_FORM_ref_addr
            | gimli::DW_FORM_ref_sup4
            | gimli::DW_FORM_ref_sup8
            | gimli::DW_FORM_GNU_ref_alt
            | gimli::DW_FORM_indirect
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// A unit of DWARF 4 whose only function holds `depth` inlined functions, one in the other.
    fn nested(depth: usize) -> gimli::Dwarf<SectionReader> {
        // Abbreviations: 1 = compile unit, 2 = subprogram, 3 = inlined subroutine, all with
        // children and without attributes.
        let abbreviations = [1, 0x11, 1, 0, 0, 2, 0x2e, 1, 0, 0, 3, 0x1d, 1, 0, 0, 0];
        let mut body = vec![4, 0, 0, 0, 0, 0, 8, 1, 2];
        body.extend(std::iter::repeat_n(3, depth));
        body.extend(std::iter::repeat_n(0, depth + 2));
        let mut info = u32::try_from(body.len()).unwrap().to_le_bytes().to_vec();
        info.extend(body);
        gimli::Dwarf::load(|id| -> Result<SectionReader, ()> {
            let bytes: Arc<[u8]> = match id.name() {
                ".debug_abbrev" => Arc::from(abbreviations),
                ".debug_info" => Arc::from(info.as_slice()),
                _ => Arc::new([]),
            };
            Ok(SectionReader::new(bytes, RunTimeEndian::Little))
        })
        .unwrap()
    }

    #[test]
    fn nesting_is_counted_and_bounded() {
        assert!(survey(&nested(0), 64).is_ok());
        assert!(survey(&nested(NESTING_MAX), 64).is_ok());
        let error = survey(&nested(1_000_000), 64).unwrap_err();
        assert!(error.to_string().contains("at offset 64"), "{error}");
        assert!(error.to_string().contains("nested more than 512"), "{error}");
    }
}
