//! The ELF container: header checks, sections within bounds, symbols.

use std::sync::Arc;

use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, SectionKind, SymbolKind};

use crate::SymbolError;

/// Largest expansion of a compressed section: zlib's own limit is 1032, real debug information
/// expands three- to tenfold.
const GROWTH_MAX: u64 = 256;

/// Most bytes of all names together, as a multiple of the file's size: names may overlap in the
/// string table, so that a small file could claim any number.
const NAMES_PER_FILE_MAX: u64 = 16;

/// Longest name kept.
const NAME_BYTES_MAX: usize = 1 << 16;

/// Section in which the compiler wrapper counts what has no hooks: texts that end with a zero, as
/// in `12 macro a.c`.
const UNHOOKED: &str = ".homenode.left_out";

/// Most sources without hooks that are read.
const UNHOOKED_MAX: usize = 1 << 16;

/// Instructions of one source that access memory and have no hook of the recorder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unhooked {
    /// Why, in one word: `macro`, `unknown`, `segment`, `hand-written`, `refused`.
    pub reason: String,
    /// The source.
    pub file: String,
    /// How many.
    pub instructions: u64,
}

/// What the compiler wrapper has counted; nothing where that is damaged.
pub(crate) fn unhooked(file: &object::File<'_>) -> Vec<Unhooked> {
    let data = file.section_by_name(UNHOOKED).and_then(|section| section.data().ok());
    let texts = data.unwrap_or_default().split(|&byte| byte == 0).take(UNHOOKED_MAX);
    let read = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        let mut words = text.splitn(3, ' ');
        let instructions = words.next()?.parse().ok()?;
        let (reason, file) = (words.next()?.to_owned(), words.next()?.to_owned());
        Some(Unhooked { reason, file, instructions })
    };
    texts.filter_map(read).collect()
}

/// One symbol with an address and a size, its name as stored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RawSymbol {
    pub addr: u64,
    pub size: u64,
    pub name: String,
}

/// The symbols of a file, by the kind of thing that they name, each list ordered by address.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    pub functions: Vec<RawSymbol>,
    pub data: Vec<RawSymbol>,
    pub tls: Vec<RawSymbol>,
}

impl Symbols {
    pub(crate) fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.data.is_empty() && self.tls.is_empty()
    }
}

/// Rejects files other than linked ELF programs and libraries, with the offset that shows it.
///
/// | offset | bytes | meaning |
/// |---|---|---|
/// | 0 | 4 | `7f 45 4c 46` |
/// | 4 | 1 | class: 1 = 32 bits, 2 = 64 bits |
/// | 5 | 1 | byte order: 1 = little, 2 = big endian |
/// | 16 | 2 | type: 2 = program at a fixed address, 3 = position independent |
fn check_header(bytes: &[u8]) -> Result<(), SymbolError> {
    let magic = bytes.get(..4).unwrap_or(bytes);
    if !b"\x7fELF".starts_with(magic) || (magic.len() < 4 && !bytes.is_empty()) {
        return Err(not_a_program(0, "the ELF signature 7f454c46", hex(magic)));
    }
    let needed = if bytes.get(4) == Some(&1) { 52 } else { 64 };
    let found = bytes.len() as u64;
    if found < needed {
        return Err(SymbolError::Truncated { offset: 0, what: "an ELF header", needed, found });
    }
    if !matches!(bytes[4], 1 | 2) {
        return Err(not_a_program(4, "ELF class 1 or 2", bytes[4].to_string()));
    }
    let kind = match bytes[5] {
        1 => u16::from_le_bytes([bytes[16], bytes[17]]),
        2 => u16::from_be_bytes([bytes[16], bytes[17]]),
        other => return Err(not_a_program(5, "ELF byte order 1 or 2", other.to_string())),
    };
    match kind {
        2 | 3 => Ok(()),
        1 => Err(not_a_program(16, "ELF type 2 or 3", "1, an object file not yet linked".into())),
        other => Err(not_a_program(16, "ELF type 2 or 3", other.to_string())),
    }
}

/// The headers of a linked ELF program or library.
pub(crate) fn open(bytes: &[u8]) -> Result<object::File<'_>, SymbolError> {
    check_header(bytes)?;
    parse(bytes)
}

/// The headers of any object file, also one that is not linked.
pub(crate) fn parse(bytes: &[u8]) -> Result<object::File<'_>, SymbolError> {
    object::File::parse(bytes).map_err(|error| SymbolError::Malformed {
        offset: 0,
        part: "the ELF headers".to_owned(),
        reason: error.to_string(),
    })
}

fn not_a_program(offset: u64, expected: &'static str, found: String) -> SymbolError {
    SymbolError::NotAProgram { offset, expected, found }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The contents of a section, decompressed; empty when there is no such section.
pub(crate) fn section(file: &object::File<'_>, name: &str) -> Result<Arc<[u8]>, SymbolError> {
    let Some(section) = file.section_by_name(name) else { return Ok(Arc::new([])) };
    let offset = section.file_range().map_or(0, |(offset, _)| offset);
    let bytes = packed(&section, name)?.decompress();
    let bytes = bytes.map_err(|error| malformed(name, offset, &error))?;
    Ok(Arc::from(bytes.as_ref()))
}

/// A section as stored in the file, if its size is plausible.
pub(crate) fn packed<'data>(
    section: &object::Section<'data, '_>,
    name: &str,
) -> Result<object::read::CompressedData<'data>, SymbolError> {
    let offset = section.file_range().map_or(0, |(offset, _)| offset);
    let data = section.compressed_data().map_err(|error| malformed(name, offset, &error))?;
    let limit = (data.data.len() as u64).saturating_mul(GROWTH_MAX).saturating_add(4096);
    if data.uncompressed_size > limit {
        return Err(SymbolError::TooLarge {
            offset,
            part: format!("section {name}"),
            claimed: data.uncompressed_size,
            limit,
        });
    }
    Ok(data)
}

fn malformed(name: &str, offset: u64, error: &object::Error) -> SymbolError {
    SymbolError::Malformed { offset, part: format!("section {name}"), reason: error.to_string() }
}

/// Every named function and object with a size.
pub(crate) fn symbols(file: &object::File<'_>, file_bytes: u64) -> Result<Symbols, SymbolError> {
    let mut symbols = Symbols::default();
    let mut budget = file_bytes.saturating_mul(NAMES_PER_FILE_MAX);
    // A stripped program still has the names that the dynamic linker needs.
    let Some(table) = file.symbol_table().or_else(|| file.dynamic_symbol_table()) else {
        return Ok(symbols);
    };
    for symbol in table.symbols() {
        let Ok(name) = symbol.name_bytes() else { continue };
        if name.is_empty() || name.len() > NAME_BYTES_MAX || symbol.size() == 0 {
            continue;
        }
        let Some(list) = list_for(file, &symbol, &mut symbols) else { continue };
        budget = budget.checked_sub(name.len() as u64).ok_or_else(|| SymbolError::TooLarge {
            offset: 0,
            part: "the names of the symbol table".to_owned(),
            claimed: file_bytes.saturating_mul(NAMES_PER_FILE_MAX).saturating_add(1),
            limit: file_bytes.saturating_mul(NAMES_PER_FILE_MAX),
        })?;
        let name = String::from_utf8_lossy(name);
        // Copies of library objects carry a version: `stdout@GLIBC_2.2.5`.
        let name = name.split_once('@').map_or(&*name, |(plain, _)| plain).to_owned();
        list.push(RawSymbol { addr: symbol.address(), size: symbol.size(), name });
    }
    sort_and_deduplicate(&mut symbols.functions);
    sort_and_deduplicate(&mut symbols.data);
    sort_and_deduplicate(&mut symbols.tls);
    Ok(symbols)
}

fn list_for<'a>(
    file: &object::File<'_>,
    symbol: &object::Symbol<'_, '_>,
    symbols: &'a mut Symbols,
) -> Option<&'a mut Vec<RawSymbol>> {
    let section = file.section_by_index(symbol.section_index()?).ok()?;
    if symbol.kind() == SymbolKind::Text {
        return Some(&mut symbols.functions);
    }
    let kind = section.kind();
    let is_tls = symbol.kind() == SymbolKind::Tls
        || matches!(kind, SectionKind::Tls | SectionKind::UninitializedTls);
    let is_data = matches!(
        kind,
        SectionKind::Data
            | SectionKind::UninitializedData
            | SectionKind::ReadOnlyData
            | SectionKind::ReadOnlyDataWithRel
            | SectionKind::ReadOnlyString
    );
    match (is_tls, symbol.kind() == SymbolKind::Data && is_data) {
        (true, _) => Some(&mut symbols.tls),
        (false, true) => Some(&mut symbols.data),
        (false, false) => None,
    }
}

/// Orders by address and keeps one name for each object: the one with the fewest leading
/// underscores, then the first in the alphabet (`environ`, not `__environ`).
fn sort_and_deduplicate(list: &mut Vec<RawSymbol>) {
    let underscores = |name: &str| name.len() - name.trim_start_matches('_').len();
    // Names are compared only where several begin at one address: most symbols are alone there.
    list.sort_unstable_by(|a, b| {
        (a.addr, a.size)
            .cmp(&(b.addr, b.size))
            .then_with(|| (underscores(&a.name), &a.name).cmp(&(underscores(&b.name), &b.name)))
    });
    list.dedup_by(|later, kept| (later.addr, later.size) == (kept.addr, kept.size));
}
