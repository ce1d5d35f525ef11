//! The debug information of a file, read as a whole or only the units that are asked about.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use gimli::{Dwarf, DwarfSections, Reader, RunTimeEndian, Section, SectionId, UnitRef};
use object::{Object, ObjectSection};

use crate::contents::{Contents, SharedStart};
use crate::dwarf::{self, SectionReader, endian, malformed};
use crate::ranges::UnitRanges;
use crate::{SymbolError, elf};

/// Bytes of the longest encoding of a unit's length.
const INITIAL_LENGTH_MAX: usize = 12;

/// Macros, indexes of names, and units of types: nothing is looked up in them.
const UNUSED: [SectionId; 4] =
    [SectionId::DebugMacinfo, SectionId::DebugMacro, SectionId::DebugNames, SectionId::DebugTypes];

/// Sections of a separate file that are read as far as, or when, a query needs them.
const LATER: [SectionId; 4] =
    [SectionId::DebugInfo, SectionId::DebugLine, SectionId::DebugLoc, SectionId::DebugLocLists];

/// Units that can be looked up by addresses in them.
pub(crate) struct Resolver {
    pub context: addr2line::Context<SectionReader>,
    pub dwarf: Arc<Dwarf<SectionReader>>,
    /// Where its units begin in `.debug_info`.
    start: usize,
}

impl Resolver {
    /// All units of a file, and the file to which a part of them was moved.
    fn of_file(file: &object::File<'_>, supplement: Option<&[u8]>) -> Result<Self, SymbolError> {
        let endian = endian(file);
        let mut dwarf = Dwarf::load(|id| load(file, id, endian))?;
        let offset = offset_of_info(file);
        // The check and the resolver both read them.
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::All);
        dwarf::survey(&dwarf, offset)?;
        if let Some(bytes) = supplement {
            let other = elf::parse(bytes)?;
            dwarf.load_sup(|id| load(&other, id, endian))?;
            if let Some(moved) = dwarf.sup() {
                dwarf::survey(moved, 0)?;
            }
        }
        Self::new(dwarf, 0, offset)
    }

    /// Prepares checked debug information; damage is at `offset` of the file.
    fn new(dwarf: Dwarf<SectionReader>, start: usize, offset: u64) -> Result<Self, SymbolError> {
        let dwarf = Arc::new(dwarf);
        let context = addr2line::Context::from_arc_dwarf(Arc::clone(&dwarf))
            .map_err(|error| malformed(offset, &error))?;
        Ok(Self { context, dwarf, start })
    }

    /// The unit that has a function or a line at an address.
    pub(crate) fn unit(&self, addr: u64) -> Option<UnitRef<'_, SectionReader>> {
        self.context.find_dwarf_and_unit(addr).skip_all_loads()
    }

    /// Where a unit begins in `.debug_info` of the file.
    pub(crate) fn place(&self, unit: UnitRef<'_, SectionReader>) -> Option<usize> {
        Some(self.start + unit.header.debug_info_offset()?.0)
    }
}

/// The debug information of a file.
pub(crate) enum DebugInfo {
    /// Checked as a whole.
    Whole(Rc<Resolver>),
    /// Each unit is read and checked when it is asked about.
    ByUnit(Box<UnitwiseInfo>),
}

impl DebugInfo {
    /// Reads a file's debug information, and the file to which a part of it was moved.
    ///
    /// # Errors
    /// When any of it is damaged, or inlined functions are nested absurdly deep.
    pub(crate) fn whole(
        file: &object::File<'_>,
        supplement: Option<&[u8]>,
    ) -> Result<Self, SymbolError> {
        Ok(Self::Whole(Rc::new(Resolver::of_file(file, supplement)?)))
    }

    /// Reads from a file which units its debug information has for which addresses. Where the file
    /// does not say that, all is read.
    ///
    /// # Errors
    /// When what is read is damaged.
    pub(crate) fn by_unit(path: &Path, bytes: Rc<Vec<u8>>) -> Result<Self, SymbolError> {
        let file = elf::parse(&bytes)?;
        let aranges = load(&file, SectionId::DebugAranges, endian(&file))?;
        match UnitRanges::read(&aranges.into()) {
            Ok(ranges) if !ranges.is_empty() => {
                let info = UnitwiseInfo::new(path, Rc::clone(&bytes), ranges)?;
                Ok(Self::ByUnit(Box::new(info)))
            }
            _ => Self::whole(&file, None),
        }
    }

    /// What has units for an address. `named` says whether there is a function at that address
    /// according to the symbol table.
    pub(crate) fn resolver(&self, addr: u64, named: bool) -> Option<Rc<Resolver>> {
        if addr == u64::MAX {
            // addr2line asks about the range up to addr + 1.
            return None;
        }
        match self {
            Self::Whole(resolver) => Some(Rc::clone(resolver)),
            Self::ByUnit(info) => info.resolver(addr, named),
        }
    }

    /// All units, if they can be read.
    pub(crate) fn all(&self) -> Option<Rc<Resolver>> {
        match self {
            Self::Whole(resolver) => Some(Rc::clone(resolver)),
            Self::ByUnit(info) => info.whole(),
        }
    }

    /// A unit with the lists of locations, which are read when they are first needed.
    pub(crate) fn located<'a>(
        &'a self,
        unit: UnitRef<'a, SectionReader>,
    ) -> UnitRef<'a, SectionReader> {
        match self {
            Self::Whole(_) => unit,
            Self::ByUnit(info) => {
                info.located().map_or(unit, |dwarf| UnitRef::new(dwarf, unit.unit))
            }
        }
    }

    /// The first damage that a question has found.
    pub(crate) fn damage(&self) -> Option<&SymbolError> {
        match self {
            Self::Whole(_) => None,
            Self::ByUnit(info) => info.damage.get(),
        }
    }
}

/// Debug information of which only some units are read: a small program's references are explained
/// by a dozen of the two thousand units of the C library.
///
/// If several units claim an address, those in `.debug_aranges` are asked first.
pub(crate) struct UnitwiseInfo {
    path: PathBuf,
    bytes: Rc<Vec<u8>>,
    /// All but those that are read later.
    sections: DwarfSections<SectionReader>,
    ranges: UnitRanges,
    contents: RefCell<Contents>,
    lines: RefCell<SharedStart>,
    /// Those that were asked about; `None` if they are damaged or refer to others.
    units: RefCell<BTreeMap<usize, Option<Rc<Resolver>>>>,
    whole: OnceCell<Option<Rc<Resolver>>>,
    located: OnceCell<Option<Dwarf<SectionReader>>>,
    damage: OnceCell<SymbolError>,
}

impl UnitwiseInfo {
    fn new(path: &Path, bytes: Rc<Vec<u8>>, ranges: UnitRanges) -> Result<Self, SymbolError> {
        let file = elf::parse(&bytes)?;
        let endian = endian(&file);
        let sections = DwarfSections::load(|id| {
            if LATER.contains(&id) {
                return Ok(SectionReader::new(Arc::new([]), endian));
            }
            load(&file, id, endian)
        })?;
        let contents = RefCell::new(Contents::of(&file, SectionId::DebugInfo.name())?);
        let lines = SharedStart::of(Contents::of(&file, SectionId::DebugLine.name())?);
        Ok(Self {
            path: path.to_owned(),
            bytes,
            sections,
            ranges,
            contents,
            lines: RefCell::new(lines),
            units: RefCell::default(),
            whole: OnceCell::new(),
            located: OnceCell::new(),
            damage: OnceCell::new(),
        })
    }

    fn resolver(&self, addr: u64, named: bool) -> Option<Rc<Resolver>> {
        let mut asked = false;
        for unit in self.ranges.at(addr) {
            asked = true;
            let resolver = self.unit(unit).filter(|resolver| resolver.unit(addr).is_some());
            if resolver.is_some() {
                return resolver;
            }
        }
        // A function outside all ranges may be in a unit that `.debug_aranges` leaves out. Other
        // code there, as stubs that call libraries, is in no unit.
        (asked || named).then(|| self.whole()).flatten()
    }

    fn unit(&self, start: usize) -> Option<Rc<Resolver>> {
        let read = || self.or_note(self.read_unit(start)).flatten().map(Rc::new);
        self.units.borrow_mut().entry(start).or_insert_with(read).clone()
    }

    /// One unit, as if there were no others; `None` if it refers to others.
    fn read_unit(&self, start: usize) -> Result<Option<Resolver>, SymbolError> {
        let mut contents = self.contents.borrow_mut();
        let offset = contents.offset();
        let end = self.end(&mut contents, start)?;
        let unit = contents.read(&self.bytes, start..end)?;
        let mut dwarf = self.sections.borrow(SectionReader::clone);
        dwarf.debug_info = self.reader(Arc::from(unit)).into();
        // The unit's attributes have its ranges as well; where they lack one, all units are read.
        dwarf.debug_aranges = self.reader(Arc::new([])).into();
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::All);
        if dwarf::survey(&dwarf, offset)?.refers {
            return Ok(None);
        }
        if let Some(program) = dwarf::line_program(&dwarf) {
            let mut lines = self.lines.borrow_mut();
            let end = self.end(&mut lines.contents, program)?;
            dwarf.debug_line = self.reader(lines.up_to(&self.bytes, end)?).into();
        }
        Ok(Some(Resolver::new(dwarf, start, offset)?))
    }

    /// Where a unit, or a line program, ends.
    fn end(&self, contents: &mut Contents, start: usize) -> Result<usize, SymbolError> {
        let header = start..start.saturating_add(INITIAL_LENGTH_MAX).min(contents.len());
        let mut header = self.reader(Arc::from(contents.read(&self.bytes, header)?));
        let (length, format) =
            header.read_initial_length().map_err(|error| malformed(contents.offset(), &error))?;
        Ok(start.saturating_add(usize::from(format.initial_length_size())).saturating_add(length))
    }

    fn reader(&self, bytes: Arc<[u8]>) -> SectionReader {
        SectionReader::new(bytes, self.sections.debug_abbrev.reader().endian())
    }

    /// All units, read as for a program's own debug information.
    fn whole(&self) -> Option<Rc<Resolver>> {
        let read = || Resolver::of_file(&elf::parse(&self.bytes)?, None);
        let known = self.whole.get_or_init(|| self.or_note(read()).map(Rc::new));
        known.clone()
    }

    /// The sections with the lists of locations.
    fn located(&self) -> Option<&Dwarf<SectionReader>> {
        let read = || {
            let file = elf::parse(&self.bytes)?;
            let list = |id| load(&file, id, endian(&file));
            let (old, new) = (list(SectionId::DebugLoc)?, list(SectionId::DebugLocLists)?);
            let mut dwarf = self.sections.borrow(SectionReader::clone);
            dwarf.locations = gimli::LocationLists::new(old.into(), new.into());
            Ok(dwarf)
        };
        self.located.get_or_init(|| self.or_note(read())).as_ref()
    }

    /// What was read; damage is kept for [`DebugInfo::damage`].
    fn or_note<T>(&self, read: Result<T, SymbolError>) -> Option<T> {
        read.map_err(|source| {
            let in_file = SymbolError::File { path: self.path.clone(), source: Box::new(source) };
            self.damage.get_or_init(|| in_file);
        })
        .ok()
    }
}

/// Where `.debug_info` begins in a file.
fn offset_of_info(file: &object::File<'_>) -> u64 {
    let info = file.section_by_name(SectionId::DebugInfo.name());
    info.and_then(|section| section.file_range()).map_or(0, |range| range.0)
}

/// A section; one of the [`UNUSED`] is empty.
fn load(
    file: &object::File<'_>,
    id: SectionId,
    endian: RunTimeEndian,
) -> Result<SectionReader, SymbolError> {
    let unused = UNUSED.contains(&id);
    let bytes = if unused { Arc::new([]) } else { elf::section(file, id.name())? };
    Ok(SectionReader::new(bytes, endian))
}
