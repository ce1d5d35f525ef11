//! The entries of one unit of debug information as a tree in memory, as far as types need them.

use gimli::{AttributeValue, Reader, UnitOffset, UnitRef};

use crate::dwarf::SectionReader;

/// Most entries of a unit that are read: real units have up to a few hundred thousand.
const ENTRIES_MAX: usize = 4_000_000;

/// Longest chain of references from entry to entry that is followed.
const CHAIN_MAX: usize = 32;

/// An entry: a function, a variable, a type, a member.
#[derive(Debug)]
pub(crate) struct Entry {
    offset: UnitOffset,
    pub tag: gimli::DwTag,
    /// Position of the enclosing entry; its own for the unit.
    pub parent: usize,
    /// One past the last entry within it.
    end: usize,
    name: Option<SectionReader>,
    /// The type of a variable, member, pointer or function.
    type_of: Option<UnitOffset>,
    /// The entry that it is a copy or the definition of.
    origin: Option<UnitOffset>,
    /// Bytes.
    pub size: Option<u64>,
    /// Offset of a member in its structure, in bytes.
    pub at: Option<u64>,
    /// Elements of an array's dimension.
    pub count: Option<u64>,
    /// Line of the declaration, 0 if unknown.
    pub line: u64,
    /// Address of a static variable.
    pub address: Option<u64>,
    pub encoding: Option<gimli::DwAte>,
    /// Whether it is only a declaration, or a static member of a class.
    pub declares: bool,
}

/// All entries of a unit, each before those within it.
#[derive(Debug)]
pub(crate) struct EntryTree {
    entries: Vec<Entry>,
}

impl EntryTree {
    /// Reads a unit.
    ///
    /// Cost: one pass over its entries. An entry that cannot be read ends it.
    pub(crate) fn read(unit: UnitRef<'_, SectionReader>) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        let mut open: Vec<(isize, usize)> = Vec::new();
        let Ok(mut raw) = unit.entries_raw(None) else { return Self { entries } };
        let lowest = lowest_index(unit);
        let mut die = gimli::DebuggingInformationEntry::null();
        while !raw.is_empty() && entries.len() < ENTRIES_MAX {
            let depth = raw.next_depth();
            match raw.read_entry(&mut die) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(_) => break,
            }
            let here = entries.len();
            while open.last().is_some_and(|&(opened, _)| opened >= depth) {
                let (_, closed) = open.pop().expect("just seen");
                entries[closed].end = here;
            }
            let parent = open.last().map_or(here, |&(_, place)| place);
            entries.push(entry(unit, &die, parent, lowest));
            open.push((depth, here));
        }
        let all = entries.len();
        for (_, place) in open {
            entries[place].end = all;
        }
        Self { entries }
    }

    pub(crate) fn get(&self, place: usize) -> &Entry {
        &self.entries[place]
    }

    pub(crate) fn offset(&self, place: usize) -> UnitOffset {
        self.entries[place].offset
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn find(&self, offset: UnitOffset) -> Option<usize> {
        self.entries.binary_search_by_key(&offset.0, |entry| entry.offset.0).ok()
    }

    pub(crate) fn children(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.entries[place].end;
        let mut next = place + 1;
        std::iter::from_fn(move || {
            let found = next;
            (found < end).then(|| {
                next = self.entries[found].end.max(found + 1);
                found
            })
        })
    }

    /// Positions of all entries within one, at any depth.
    pub(crate) fn within(&self, place: usize) -> std::ops::Range<usize> {
        place + 1..self.entries[place].end.max(place + 1)
    }

    /// An entry and those that it is a copy or the definition of.
    pub(crate) fn origins(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        let next = |&place: &usize| self.find(self.entries[place].origin?);
        std::iter::successors(Some(place), next).take(CHAIN_MAX)
    }

    /// The name of an entry, or of the entry that it is a copy of.
    pub(crate) fn name(&self, place: usize) -> Option<String> {
        let mut found = self.origins(place).filter_map(|at| self.entries[at].name.as_ref());
        found.next().and_then(|name| Some(name.to_string_lossy().ok()?.into_owned()))
    }

    /// The type of an entry, or of the entry that it is a copy of; `None` also stands for `void`.
    pub(crate) fn type_of(&self, place: usize) -> Option<usize> {
        self.origins(place).find_map(|at| self.find(self.entries[at].type_of?))
    }

    /// A type without its aliases and qualifiers.
    pub(crate) fn plain(&self, place: usize) -> Option<usize> {
        let mut at = place;
        for _ in 0..CHAIN_MAX {
            match self.entries[at].tag {
                gimli::DW_TAG_typedef
                | gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
                | gimli::DW_TAG_restrict_type
                | gimli::DW_TAG_atomic_type => at = self.type_of(at)?,
                _ => return Some(at),
            }
        }
        None
    }

    /// The names of the namespaces and classes around an entry, outermost first.
    pub(crate) fn scopes(&self, place: usize) -> Vec<String> {
        let mut scopes = Vec::new();
        let mut at = place;
        while self.entries[at].parent != at && scopes.len() < CHAIN_MAX {
            at = self.entries[at].parent;
            let names = matches!(
                self.entries[at].tag,
                gimli::DW_TAG_namespace
                    | gimli::DW_TAG_structure_type
                    | gimli::DW_TAG_class_type
                    | gimli::DW_TAG_union_type
            );
            if names && let Some(name) = self.name(at) {
                scopes.push(name);
            }
        }
        scopes.reverse();
        scopes
    }
}

/// Extracts the needed attributes of a DWARF entry; `lowest` is the default lower bound of arrays.
fn entry(
    unit: UnitRef<'_, SectionReader>,
    die: &gimli::DebuggingInformationEntry<SectionReader>,
    parent: usize,
    lowest: i64,
) -> Entry {
    let local = |name| {
        let value = die.attr_value(name)?;
        if let AttributeValue::DebugInfoRef(offset) = value {
            return offset.to_unit_offset(&unit.unit.header);
        }
        if let AttributeValue::UnitRef(offset) = value { Some(offset) } else { None }
    };
    let number = |name| die.attr(name).and_then(gimli::Attribute::udata_value);
    let flag = |name| matches!(die.attr_value(name), Some(AttributeValue::Flag(true)));
    let bits = number(gimli::DW_AT_bit_size);
    let first_bit = number(gimli::DW_AT_data_bit_offset);
    Entry {
        offset: die.offset(),
        tag: die.tag(),
        parent,
        end: 0,
        name: die.attr_value(gimli::DW_AT_name).and_then(|name| unit.attr_string(name).ok()),
        type_of: local(gimli::DW_AT_type),
        origin: local(gimli::DW_AT_abstract_origin).or_else(|| local(gimli::DW_AT_specification)),
        size: match (first_bit, bits) {
            (Some(first), Some(bits)) => Some((first % 8).saturating_add(bits).div_ceil(8)),
            _ => number(gimli::DW_AT_byte_size),
        },
        at: first_bit.map(|bit| bit / 8).or_else(|| number(gimli::DW_AT_data_member_location)),
        count: number(gimli::DW_AT_count).or_else(|| {
            let upper = die.attr(gimli::DW_AT_upper_bound)?.sdata_value()?;
            let lower = die.attr(gimli::DW_AT_lower_bound).and_then(gimli::Attribute::sdata_value);
            let count = upper.checked_sub(lower.unwrap_or(lowest))?.checked_add(1)?;
            u64::try_from(count).ok()
        }),
        line: number(gimli::DW_AT_decl_line).unwrap_or(0),
        address: die.attr(gimli::DW_AT_location).and_then(|at| static_address(unit, at)),
        encoding: match die.attr_value(gimli::DW_AT_encoding) {
            Some(AttributeValue::Encoding(encoding)) => Some(encoding),
            _ => None,
        },
        declares: flag(gimli::DW_AT_declaration)
            || flag(gimli::DW_AT_external) && { die.tag() == gimli::DW_TAG_member },
    }
}

/// The lowest index of arrays in the unit's language.
fn lowest_index(unit: UnitRef<'_, SectionReader>) -> i64 {
    let root = unit.entry(unit.header.root_offset()).ok();
    let language = root.and_then(|root| root.attr_value(gimli::DW_AT_language));
    let Some(AttributeValue::Language(language)) = language else { return 0 };
    i64::from(language.default_lower_bound() == Some(1))
}

/// The address that a location denotes, if it is constant.
fn static_address(
    unit: UnitRef<'_, SectionReader>,
    location: &gimli::Attribute<SectionReader>,
) -> Option<u64> {
    let mut operations = location.exprloc_value()?.operations(unit.encoding());
    let first = operations.next().ok()??;
    let base = if let gimli::Operation::Address { address } = first {
        address
    } else if let gimli::Operation::AddressIndex { index } = first {
        unit.address(index).ok()?
    } else {
        return None;
    };
    match operations.next().ok()? {
        None => Some(base),
        Some(gimli::Operation::PlusConstant { value }) => base.checked_add(value),
        Some(_) => None,
    }
}
