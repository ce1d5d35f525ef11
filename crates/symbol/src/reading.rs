//! Reading a program without its machine code, which is most of a library and is never looked at.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use object::Endianness;
use object::elf::{FileHeader64, SHF_EXECINSTR, SHT_NOBITS, SHT_PROGBITS};
use object::read::elf::{FileHeader, SectionHeader};

use crate::SymbolError;

/// Shorter sections are read with what is beside them.
const CODE_BYTES_MIN: usize = 1 << 16;

/// Larger files are read as a whole, with an error where that takes too much memory.
const FILE_BYTES_MAX: usize = 1 << 30;

const HEADER_BYTES: usize = size_of::<FileHeader64<Endianness>>();

/// Reads a file; zeros stand for long sections of machine code.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn read_program(path: &Path) -> Result<Vec<u8>, SymbolError> {
    without_code(path)
        .map_or_else(|| std::fs::read(path), Ok)
        .map_err(|source| SymbolError::Read { path: path.to_owned(), source })
}

/// `None` for a file that has another form, cannot be read, or changes meanwhile.
fn without_code(path: &Path) -> Option<Vec<u8>> {
    let file = &File::open(path).ok()?;
    let size = usize::try_from(file.metadata().ok()?.len()).ok();
    // Pages that nothing is read into take no memory.
    let mut all = vec![0; size.filter(|&size| size <= FILE_BYTES_MAX)?];
    let bytes = all.as_mut_slice();
    read_at(file, bytes, 0..HEADER_BYTES)?;
    let table = section_table(bytes)?;
    read_at(file, bytes, table)?;
    let sections = sections(bytes)?;
    let (code, others): (Vec<_>, Vec<_>) = sections.into_iter().partition(|s| s.is_code);
    let mut known = 0;
    for section in &code {
        read_at(file, bytes, known..section.place.start.max(known))?;
        known = known.max(section.place.end);
    }
    read_at(file, bytes, known..bytes.len())?;
    for section in others {
        // Only contrived files have other sections there.
        let within = |of: &StoredSection| {
            of.place.start < section.place.end && section.place.start < of.place.end
        };
        if code.iter().any(within) {
            read_at(file, bytes, section.place)?;
        }
    }
    Some(all)
}

fn read_at(file: &File, bytes: &mut [u8], place: Range<usize>) -> Option<()> {
    let offset = u64::try_from(place.start).ok()?;
    file.read_exact_at(bytes.get_mut(place)?, offset).ok()
}

/// A section's bytes in the file.
struct StoredSection {
    place: Range<usize>,
    is_code: bool,
}

/// Where the table of sections is.
fn section_table(bytes: &[u8]) -> Option<Range<usize>> {
    let header = FileHeader64::<Endianness>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let start = usize::try_from(header.e_shoff(endian)).ok()?;
    let length = usize::from(header.e_shnum(endian)) * usize::from(header.e_shentsize(endian));
    (length > 0).then_some(start..start.checked_add(length)?)
}

/// The sections that have bytes, in the order of their places.
fn sections(bytes: &[u8]) -> Option<Vec<StoredSection>> {
    let header = FileHeader64::<Endianness>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let mut found = Vec::new();
    for section in header.section_headers(endian, bytes).ok()? {
        let kind = section.sh_type(endian);
        let start = usize::try_from(section.sh_offset(endian)).ok()?;
        let length = usize::try_from(section.sh_size(endian)).ok()?;
        let place = start..start.checked_add(length)?;
        if kind == SHT_NOBITS || length == 0 {
            continue;
        }
        let executed = section.sh_flags(endian).contains(SHF_EXECINSTR);
        let is_code = kind == SHT_PROGBITS && executed && length >= CODE_BYTES_MIN;
        found.push(StoredSection { place, is_code });
    }
    found.sort_by_key(|section| section.place.start);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This test program, whose machine code is long, and the place of that code.
    fn program() -> (Vec<u8>, Range<usize>) {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let mut found = sections(&bytes).unwrap();
        found.retain(|section| section.is_code);
        let place = found.first().expect("the code is long").place.clone();
        (bytes, place)
    }

    fn read(bytes: &[u8]) -> Vec<u8> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        read_program(file.path()).unwrap()
    }

    #[test]
    fn all_but_the_code_is_read() {
        let (mut bytes, code) = program();
        let found = read(&bytes);
        assert!(found[code.clone()].iter().all(|&byte| byte == 0));
        bytes[code].fill(0);
        assert!(found == bytes, "every other byte is as in the file");
    }

    /// A section within the code, in a contrived file, is read.
    #[test]
    fn other_sections_are_read_wherever_they_are() {
        let (mut bytes, code) = program();
        let table = section_table(&bytes).unwrap();
        let entry = table
            .step_by(64)
            .find(|&at| bytes[at + 4..at + 8] == [3, 0, 0, 0])
            .expect("there is a string table");
        let place = code.start + 100;
        bytes[entry + 24..entry + 32].copy_from_slice(&(place as u64).to_le_bytes());
        bytes[entry + 32..entry + 40].copy_from_slice(&50_u64.to_le_bytes());
        let found = read(&bytes);
        assert_eq!(found[place..place + 50], bytes[place..place + 50]);
        assert!(found[code.start..place].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn other_files_are_read_as_they_are() {
        let (bytes, _) = program();
        for of in [&[][..], b"#!/bin/sh\n", &bytes[..40], &bytes[..100_000]] {
            assert!(read(of) == of);
        }
        let error = read_program(Path::new("/no/such/file")).unwrap_err().to_string();
        assert!(error.starts_with("/no/such/file: cannot be read"), "{error}");
    }
}
