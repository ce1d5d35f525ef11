//! Queries by address: source location, function, static object.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use object::{Object, ObjectSegment};

use crate::demangle::DemangledNames;
use crate::elf::{self, RawSymbol, Symbols};
use crate::info::{DebugInfo, Resolver};
use crate::reading::read_program;
use crate::separate::{self, DEBUG_FOLDER, DebugLink};
use crate::tree::EntryTree;
use crate::unwind::Extents;
use crate::{SymbolError, demangle};

/// A linked program or library, parsed for queries by address.
///
/// Debug information may be in a file of its own, which [`Self::open`] finds.
///
/// Cost: parsing reads the symbol table and passes once over the program's own debug information.
/// A unit's lines and functions are read when an address in it is first looked up, and in a
/// separate file the rest of the unit, too; after that a query is a binary search.
pub struct Symbolizer {
    pub(crate) debug: DebugInfo,
    /// The units of the latest queries about types, by their offsets.
    pub(crate) trees: RecentTrees,
    /// Of functions.
    names: DemangledNames,
    symbols: Symbols,
    /// Functions from unwinding information, which may have no name.
    extents: Extents,
    position_independent: bool,
    first_load_address: u64,
    load_end: u64,
    has_lines: bool,
    debug_file: Option<PathBuf>,
    refused: Vec<SymbolError>,
    unhooked: Vec<elf::Unhooked>,
}

/// The place of an address in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// Function, demangled; empty if unknown. For inlined code, the innermost function.
    pub function: String,
    /// Source file as the compiler recorded it; empty if unknown.
    pub file: String,
    /// Line counted from 1, 0 if unknown.
    pub line: u32,
}

/// Trees of units, the most recently used one last.
pub(crate) type RecentTrees = std::cell::RefCell<Vec<(usize, Rc<EntryTree>)>>;

/// One of the functions that contain an address: inlined code is in several.
pub type InlineFrame = SourceLocation;

/// A static object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSymbol {
    /// Address in the file; for thread-local objects the offset in the thread-local image.
    pub addr: u64,
    /// Bytes.
    pub size: u64,
    /// Name, demangled.
    pub name: String,
}

impl Symbolizer {
    /// Reads and parses a file, and if it has no debug information of its own, the file that a
    /// debug package has installed for it in [`DEBUG_FOLDER`], or that lies beside it.
    ///
    /// # Errors
    /// When it cannot be read, or as [`Self::parse`]. Debug files that cannot be used are not an
    /// error; [`Self::refused`] lists them.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SymbolError> {
        Self::open_with(path, DEBUG_FOLDER)
    }

    /// Like [`Self::open`], with another folder of debug information.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with(
        path: impl AsRef<Path>,
        debug_folder: impl AsRef<Path>,
    ) -> Result<Self, SymbolError> {
        let path = path.as_ref();
        let bytes = read_program(path)?;
        let mut symbolizer = Self::parse(&bytes).map_err(|source| in_file(path, source))?;
        if !symbolizer.has_lines {
            let link = DebugLink::of(&elf::open(&bytes).map_err(|source| in_file(path, source))?);
            drop(bytes);
            symbolizer.find_debug_file(&link, path, debug_folder.as_ref());
        }
        Ok(symbolizer)
    }

    /// Reads and parses a file, and no debug file.
    ///
    /// # Errors
    /// When it cannot be read, or as [`Self::parse`].
    pub fn open_alone(path: impl AsRef<Path>) -> Result<Self, SymbolError> {
        let path = path.as_ref();
        Self::parse(&read_program(path)?).map_err(|source| in_file(path, source))
    }

    /// Takes lines and symbols from the first debug file that exists and matches.
    fn find_debug_file(&mut self, link: &DebugLink, program: &Path, folder: &Path) {
        // A debug file lies beside the program itself, not beside symbolic links to it.
        let real = std::fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
        for place in link.candidates(&real, folder) {
            if !place.is_file() {
                continue;
            }
            match Self::debug_file_at(link, &place) {
                Ok(other) => return self.use_debug_file(other, place),
                Err(source) => {
                    self.refused.push(in_file(&place, source));
                }
            }
        }
    }

    fn debug_file_at(link: &DebugLink, path: &Path) -> Result<Self, SymbolError> {
        let bytes = read(path)?;
        let file = elf::open(&bytes)?;
        link.check(&file, &bytes)?;
        if let Some(moved) = separate::supplement(&file, path)? {
            return Self::with(&file, &bytes, DebugInfo::whole(&file, Some(&moved))?);
        }
        Self::parse_separate(path, bytes)
    }

    /// Parses the bytes of a separate debug file.
    pub(crate) fn parse_separate(path: &Path, bytes: Vec<u8>) -> Result<Self, SymbolError> {
        let bytes = Rc::new(bytes);
        let debug = DebugInfo::by_unit(path, Rc::clone(&bytes))?;
        Self::with(&elf::open(&bytes)?, &bytes, debug)
    }

    fn use_debug_file(&mut self, other: Self, path: PathBuf) {
        self.debug = other.debug;
        self.trees = other.trees;
        self.has_lines = other.has_lines;
        // The program's own symbols are fewer: those that the dynamic linker needs.
        if !other.symbols.is_empty() {
            self.symbols = other.symbols;
        }
        self.debug_file = Some(path);
    }

    /// The file that the debug information was taken from, if it was not the program itself.
    #[must_use]
    pub fn debug_file(&self) -> Option<&Path> {
        self.debug_file.as_deref()
    }

    /// For each debug file that was found and not used, the reason; and the first damage that a
    /// query has found in the one that is used. Queries that need a damaged part have the symbol
    /// table's answer, others are not affected.
    #[must_use]
    pub fn refused(&self) -> Vec<&SymbolError> {
        self.refused.iter().chain(self.debug.damage()).collect()
    }

    /// What the compiler wrapper has counted that accesses memory and has no hook.
    #[must_use]
    pub fn unhooked(&self) -> &[elf::Unhooked] {
        &self.unhooked
    }

    /// Parses the bytes of a file, and copies the parts that it needs.
    ///
    /// # Errors
    /// When they are not a linked ELF program or library, or are damaged. A program without debug
    /// information or without symbols is not an error: fewer queries have an answer.
    pub fn parse(bytes: &[u8]) -> Result<Self, SymbolError> {
        let file = elf::open(bytes)?;
        Self::with(&file, bytes, DebugInfo::whole(&file, None)?)
    }

    /// All but the debug information from a file.
    fn with(file: &object::File<'_>, bytes: &[u8], debug: DebugInfo) -> Result<Self, SymbolError> {
        Ok(Self {
            debug,
            trees: RecentTrees::default(),
            names: DemangledNames::default(),
            symbols: elf::symbols(file, bytes.len() as u64)?,
            extents: Extents::of(file),
            position_independent: matches!(file.kind(), object::ObjectKind::Dynamic),
            first_load_address: file.segments().map(|s| s.address()).min().unwrap_or(0),
            load_end: file
                .segments()
                .map(|s| s.address().saturating_add(s.size()))
                .max()
                .unwrap_or(0),
            has_lines: file.section_by_name(".debug_info").is_some(),
            debug_file: None,
            refused: Vec::new(),
            unhooked: elf::unhooked(file),
        })
    }

    /// The innermost source line of an address, or `None` if nothing is known about it.
    ///
    /// Without debug information for the address, the function from the symbol table with an empty
    /// file and line 0.
    #[must_use]
    pub fn line(&self, addr_in_file: u64) -> Option<SourceLocation> {
        self.frames(addr_in_file).into_iter().next()
    }

    /// All functions that contain an address, innermost first; the last one is not inlined.
    ///
    /// The line of each outer frame is the line of the inlined call. Empty if nothing is known.
    #[must_use]
    pub fn frames(&self, addr_in_file: u64) -> Vec<InlineFrame> {
        let symbol = self.function_at(addr_in_file);
        // Damaged debug information about one address leaves the symbol table as an answer.
        let mut frames = self.dwarf_frames(addr_in_file).unwrap_or_default();
        if let (Some(outermost), Some(symbol)) = (frames.last_mut(), symbol)
            && outermost.function.is_empty()
        {
            outermost.function = self.names.demangled(&symbol.name);
        }
        if let (true, Some(symbol)) = (frames.is_empty(), symbol) {
            let function = self.names.demangled(&symbol.name);
            frames.push(InlineFrame { function, file: String::new(), line: 0 });
        }
        frames
    }

    fn dwarf_frames(&self, addr: u64) -> Result<Vec<InlineFrame>, gimli::Error> {
        let Some(resolver) = self.resolver(addr) else { return Ok(Vec::new()) };
        let mut found = resolver.context.find_frames(addr).skip_all_loads()?;
        let mut frames = Vec::new();
        while let Some(frame) = found.next()? {
            let function = match &frame.function {
                Some(name) if name.language.is_some_and(is_fortran) => {
                    self.names.demangled(name.raw_name()?.trim_end_matches('_'))
                }
                Some(name) => self.names.demangled(&name.raw_name()?),
                None => String::new(),
            };
            let location = frame.location.as_ref();
            frames.push(InlineFrame {
                function,
                file: location.and_then(|at| at.file).unwrap_or_default().to_owned(),
                line: location.and_then(|at| at.line).unwrap_or(0),
            });
        }
        Ok(frames)
    }

    /// The debug information about an address.
    pub(crate) fn resolver(&self, addr: u64) -> Option<Rc<Resolver>> {
        // A file without symbols may have named all its functions in the debug information.
        let named = self.symbols.functions.is_empty() || self.function_at(addr).is_some();
        self.debug.resolver(addr, named)
    }

    fn function_at(&self, addr: u64) -> Option<&RawSymbol> {
        containing(&self.symbols.functions, addr)
    }

    /// First address of the function that contains an address, with or without a name: it
    /// identifies the functions of a stripped program.
    #[must_use]
    pub fn function_start(&self, addr_in_file: u64) -> Option<u64> {
        self.extents.start(addr_in_file)
    }

    /// First addresses of all functions in the symbol table, ascending.
    pub fn function_addresses(&self) -> impl Iterator<Item = u64> + '_ {
        self.symbols.functions.iter().map(|symbol| symbol.addr)
    }

    /// All objects in static memory (`.data`, `.bss`, `.rodata` and the like), ordered by address,
    /// one name for each. Thread-local objects are in [`Self::tls_symbols`].
    #[must_use]
    pub fn data_symbols(&self) -> Vec<DataSymbol> {
        self.symbols.data.iter().map(demangled_symbol).collect()
    }

    /// The static object that holds this address, if there is one.
    #[must_use]
    pub fn data_symbol_at(&self, addr_in_file: u64) -> Option<DataSymbol> {
        containing(&self.symbols.data, addr_in_file).map(demangled_symbol)
    }

    /// All thread-local objects, ordered by their offset in the thread-local image: on x86-64 a
    /// thread's copy of an object at offset `o` is at `thread pointer - image size + o`.
    #[must_use]
    pub fn tls_symbols(&self) -> Vec<DataSymbol> {
        self.symbols.tls.iter().map(demangled_symbol).collect()
    }

    /// Whether the file can be loaded anywhere (a PIE or a shared library), so that addresses at
    /// run time have a load bias.
    #[must_use]
    pub fn is_pie(&self) -> bool {
        self.position_independent
    }

    /// Lowest address in the file that is loaded. The load bias is the start of the lowest mapping
    /// of the file minus this address rounded down to a page.
    #[must_use]
    pub fn first_load_address(&self) -> u64 {
        self.first_load_address
    }

    /// One past the last loaded address, including memory without contents in the file (`.bss`).
    #[must_use]
    pub fn load_end(&self) -> u64 {
        self.load_end
    }
}

impl std::fmt::Debug for Symbolizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Symbolizer")
            .field("functions", &self.symbols.functions.len())
            .field("data", &self.symbols.data.len())
            .field("tls", &self.symbols.tls.len())
            .field("position_independent", &self.position_independent)
            .finish_non_exhaustive()
    }
}

/// Whether it is Fortran, whose compilers append an underscore to the names of functions.
fn is_fortran(language: gimli::DwLang) -> bool {
    matches!(
        language,
        gimli::DW_LANG_Fortran77
            | gimli::DW_LANG_Fortran90
            | gimli::DW_LANG_Fortran95
            | gimli::DW_LANG_Fortran03
            | gimli::DW_LANG_Fortran08
    )
}

fn in_file(path: &Path, source: SymbolError) -> SymbolError {
    SymbolError::File { path: path.to_owned(), source: Box::new(source) }
}

fn read(path: &Path) -> Result<Vec<u8>, SymbolError> {
    std::fs::read(path).map_err(|source| SymbolError::Read { path: path.to_owned(), source })
}

/// The last symbol that starts at or below the address, if it reaches that far.
fn containing(list: &[RawSymbol], addr: u64) -> Option<&RawSymbol> {
    let after = list.partition_point(|symbol| symbol.addr <= addr);
    let symbol = list[..after].last()?;
    (addr - symbol.addr < symbol.size).then_some(symbol)
}

fn demangled_symbol(symbol: &RawSymbol) -> DataSymbol {
    DataSymbol { addr: symbol.addr, size: symbol.size, name: demangle(&symbol.name) }
}
