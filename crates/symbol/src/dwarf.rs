//! Checks of debug information before the resolver reads it.

use crate::SymbolError;

/// A section's bytes, shared by all users.
pub(crate) type SectionReader = gimli::EndianArcSlice<gimli::RunTimeEndian>;

/// Deepest nesting of inlined functions that is accepted. Compilers stay below 100; the resolver
/// recurses once per level, so a malicious file could exhaust its stack.
const NESTING_MAX: usize = 512;

/// Damage found in the section `.debug_info`, which begins at `offset` of the file.
pub(crate) fn malformed(offset: u64, error: &gimli::Error) -> SymbolError {
    SymbolError::Malformed {
        offset,
        part: "the debug information".to_owned(),
        reason: error.to_string(),
    }
}

/// Refuses debug information in which inlined functions are nested absurdly deep.
///
/// Cost: one pass over all entries. An entry that cannot be read ends the pass over its unit, as it
/// does in the resolver.
pub(crate) fn check_nesting(
    dwarf: &gimli::Dwarf<SectionReader>,
    offset: u64,
) -> Result<(), SymbolError> {
    let mut headers = dwarf.units();
    while let Some(header) = headers.next().map_err(|error| malformed(offset, &error))? {
        let Ok(abbreviations) = dwarf.abbreviations(&header) else { continue };
        let entries = header.entries_raw(&abbreviations, None);
        if entries.and_then(nesting).is_ok_and(|deepest| deepest > NESTING_MAX) {
            return Err(SymbolError::Malformed {
                offset,
                part: "the debug information".to_owned(),
                reason: format!("inlined functions nested more than {NESTING_MAX} deep"),
            });
        }
    }
    Ok(())
}

/// Greatest number of inlined functions around one entry of a unit; stops counting once it is more
/// than [`NESTING_MAX`].
fn nesting(mut entries: gimli::EntriesRaw<'_, SectionReader>) -> Result<usize, gimli::Error> {
    let mut open: Vec<isize> = Vec::new();
    let mut deepest = 0;
    while !entries.is_empty() && deepest <= NESTING_MAX {
        let depth = entries.next_depth();
        while open.last().is_some_and(|&opened| opened >= depth) {
            open.pop();
        }
        // A unit that is damaged further on is well formed up to there, and may be deep.
        let Ok(abbreviation) = entries.read_abbreviation() else { break };
        let Some(abbreviation) = abbreviation else { continue };
        if abbreviation.tag() == gimli::DW_TAG_inlined_subroutine {
            open.push(depth);
            deepest = deepest.max(open.len());
        }
        if entries.skip_attributes(abbreviation.attributes()).is_err() {
            break;
        }
    }
    Ok(deepest)
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
            Ok(SectionReader::new(bytes, gimli::RunTimeEndian::Little))
        })
        .unwrap()
    }

    #[test]
    fn nesting_is_counted_and_bounded() {
        assert!(check_nesting(&nested(0), 64).is_ok());
        assert!(check_nesting(&nested(NESTING_MAX), 64).is_ok());
        let error = check_nesting(&nested(1_000_000), 64).unwrap_err();
        assert!(error.to_string().contains("at offset 64"), "{error}");
        assert!(error.to_string().contains("nested more than 512"), "{error}");
    }
}
