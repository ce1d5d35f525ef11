//! Functions on the call stacks of allocations, and the types of the allocated memory.

use std::collections::HashMap;
use std::rc::Rc;

use gimli::UnitOffset;

use crate::allocated::{
    AllocatedType, allocated_at, container_element, is_allocator_name, passes_on,
};
use crate::layout::{DataType, common_block, data_type};
use crate::tree::EntryTree;
use crate::{InlineFrame, Symbolizer};

/// Units whose entries are kept.
const TREES_MAX: usize = 4;

/// A function on the call stack of an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationFrame {
    /// Its name, and where it calls the next one.
    pub place: InlineFrame,
    /// Whether it passes the memory on without determining its type: `operator new`, an allocator
    /// of C++, a function that wraps `malloc`.
    pub passes_on: bool,
    /// The type that it allocates, if its own type determines it, as for an allocator of C++.
    pub element: Option<DataType>,
}

impl Symbolizer {
    /// All functions that contain an address, as [`Self::frames`], with the types that they
    /// allocate.
    ///
    /// Cost: the first question about a unit passes over its debug information.
    #[must_use]
    pub fn allocation_frames(&self, addr_in_file: u64) -> Vec<AllocationFrame> {
        let tree = self.tree(addr_in_file);
        let functions = self.functions(addr_in_file).unwrap_or_default();
        let frame = |(number, place): (usize, InlineFrame)| {
            let name = place.function.as_str();
            let known = tree.as_deref().zip(functions.get(number).copied().flatten());
            let known = known.and_then(|(tree, at)| Some((tree, tree.find(at)?)));
            let Some((tree, function)) = known else {
                let passes_on = is_allocator_name(name);
                return AllocationFrame { place, passes_on, element: None };
            };
            let element = container_element(tree, function);
            AllocationFrame {
                passes_on: name.starts_with("operator new") || passes_on(tree, function),
                element: element.and_then(|at| data_type(tree, at)),
                place,
            }
        };
        self.frames(addr_in_file).into_iter().enumerate().map(frame).collect()
    }

    /// The type that one of the functions at an address, by its number in [`Self::frames`],
    /// allocates there, derived from the variables on the source line. `text` is that line, empty
    /// if the source is not available. For Fortran's `allocate`, the types of all arrays, in order.
    /// Empty if two answers are possible.
    #[must_use]
    pub fn allocated_type(
        &self,
        addr_in_file: u64,
        number: usize,
        text: &str,
    ) -> Vec<AllocatedType> {
        let find = || {
            let tree = self.tree(addr_in_file)?;
            let function = (*self.functions(addr_in_file).ok()?.get(number)?)?;
            let line = self.frames(addr_in_file).get(number)?.line;
            allocated_at(&tree, tree.find(function)?, line, text)
        };
        find().unwrap_or_default()
    }

    /// The types of static variables that have fields, with their addresses, in order of address. A
    /// Fortran common block has its variables as fields.
    ///
    /// Cost: one pass over the debug information.
    #[must_use]
    pub fn static_types(&self) -> Vec<(u64, DataType)> {
        let mut found = Vec::new();
        let Some(all) = self.debug.all() else { return found };
        let mut headers = all.dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            let Ok(unit) = all.dwarf.unit(header) else { continue };
            let tree = EntryTree::read(gimli::UnitRef::new(&all.dwarf, &unit));
            let mut known: HashMap<usize, Option<DataType>> = HashMap::new();
            for at in 0..tree.len() {
                let entry = tree.get(at);
                match (entry.tag, entry.address) {
                    (gimli::DW_TAG_common_block, _) => found.extend(common_block(&tree, at)),
                    (gimli::DW_TAG_variable, Some(address))
                        if tree.get(entry.parent).tag != gimli::DW_TAG_common_block =>
                    {
                        let Some(of) = tree.type_of(at) else { continue };
                        let data = known.entry(of).or_insert_with(|| {
                            data_type(&tree, of).filter(|data| !data.fields.is_empty())
                        });
                        found.extend(data.clone().map(|data| (address, data)));
                    }
                    _ => {}
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }

    /// The entries of the unit that contains an address.
    pub(crate) fn tree(&self, addr: u64) -> Option<Rc<EntryTree>> {
        let resolver = self.resolver(addr)?;
        let unit = resolver.unit(addr)?;
        let start = resolver.place(unit)?;
        let mut recent = self.trees.borrow_mut();
        let known = recent.iter().position(|(of, _)| *of == start).map(|at| recent.remove(at));
        let tree = known.map_or_else(|| Rc::new(EntryTree::read(unit)), |(_, tree)| tree);
        if recent.len() >= TREES_MAX {
            recent.remove(0);
        }
        recent.push((start, Rc::clone(&tree)));
        Some(tree)
    }

    /// The entries of the functions at an address, in the order of [`Self::frames`].
    pub(crate) fn functions(&self, addr: u64) -> Result<Vec<Option<UnitOffset>>, gimli::Error> {
        let mut found = Vec::new();
        let Some(resolver) = self.resolver(addr) else { return Ok(found) };
        let mut frames = resolver.context.find_frames(addr).skip_all_loads()?;
        while let Some(frame) = frames.next()? {
            found.push(frame.dw_die_offset);
        }
        Ok(found)
    }
}
