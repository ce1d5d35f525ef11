//! Types of data: names, sizes and fields.

use crate::tree::EntryTree;

/// Most fields of one type; further ones are left out.
const FIELDS_MAX: usize = 512;
/// Most members of structures that are visited for one type.
const VISITS_MAX: usize = 1 << 14;
/// Deepest nesting of structures that is followed.
const DEPTH_MAX: usize = 12;
/// Longest name of a type.
const NAME_BYTES_MAX: usize = 160;

/// Structures of C++ libraries that are nodes of containers, or that only wrap their members.
const TRANSPARENT: &[&str] = &[
    "pair<",
    "array<",
    "_Hash_node",
    "_Rb_tree_node",
    "_List_node",
    "_Fwd_list_node",
    "_Sp_counted_ptr_inplace<",
    "_Sp_counted_base<",
    "_Impl",
];
/// Nodes of C++ containers, with the program's value in them.
const NODES: &[&str] = &[
    "_Hash_node<",
    "_Rb_tree_node<",
    "_List_node<",
    "_Fwd_list_node<",
    "_Sp_counted_ptr_inplace<",
];
/// Memory for a value, in which it is constructed later.
const BUFFERS: &[&str] = &["__aligned_buffer<", "__aligned_membuf<"];

/// A type of data.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DataType {
    /// Its name in the source; of a container's node, that of the value in it.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Its fields, including those of nested structures, ordered by offset.
    pub fields: Vec<DataField>,
}

/// A field of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DataField {
    /// First byte, from the start of the type.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Its path in the source: `hits`, `position.x`, `slots[].count`.
    pub name: String,
    /// If the field is in an array of structures, the number of its elements and their distance;
    /// else 0.
    pub repeats: (u32, u32),
}

/// The layout of a type, or of an array's element. `None` if it has no size.
pub(crate) fn data_type(tree: &EntryTree, place: usize) -> Option<DataType> {
    let mut at = tree.plain(place)?;
    for _ in 0..DEPTH_MAX {
        if tree.get(at).tag != gimli::DW_TAG_array_type {
            break;
        }
        at = tree.plain(tree.type_of(at)?)?;
    }
    let size = size_of(tree, at).filter(|&size| size > 0)?;
    let mut fields = Fields { tree, found: Vec::new(), visits: 0 };
    if is_structure(tree, at)
        && tree.get(at).tag != gimli::DW_TAG_union_type
        && !is_opaque(tree, at)
    {
        fields.add_members(at, 0, "", 0);
    }
    let mut found = fields.found;
    found.sort_by(|a, b| (a.offset, a.size, &a.name).cmp(&(b.offset, b.size, &b.name)));
    found.dedup_by(|a, b| a.offset == b.offset && a.name == b.name);
    Some(DataType { name: name_of(tree, place, at), size, fields: found })
}

/// The variables of a Fortran common block as its fields.
pub(crate) fn common_block(tree: &EntryTree, block: usize) -> Option<(u64, DataType)> {
    let variables =
        || tree.children(block).filter(|&at| tree.get(at).tag == gimli::DW_TAG_variable);
    let start = variables().filter_map(|at| tree.get(at).address).min()?;
    let mut fields = Fields { tree, found: Vec::new(), visits: 0 };
    let mut end = 0;
    for variable in variables() {
        let (Some(name), Some(address)) = (tree.name(variable), tree.get(variable).address) else {
            continue;
        };
        let Some(type_of) = tree.type_of(variable).and_then(|at| tree.plain(at)) else { continue };
        let offset = address.checked_sub(start)?;
        fields.add(type_of, offset, &name, 1);
        end = end.max(offset.saturating_add(size_of(tree, type_of).unwrap_or(0)));
    }
    let name = tree.name(block).unwrap_or_default();
    let mut found = fields.found;
    found.sort_by_key(|field| field.offset);
    (!found.is_empty()).then_some((start, DataType { name, size: end, fields: found }))
}

/// The target of a pointer, or of an array whose memory is allocated separately.
pub(crate) fn target(tree: &EntryTree, place: usize) -> Option<usize> {
    let at = tree.plain(place)?;
    match tree.get(at).tag {
        gimli::DW_TAG_pointer_type => tree.type_of(at),
        gimli::DW_TAG_array_type if size_of(tree, at).is_none() => tree.type_of(at),
        _ => None,
    }
}

/// Whether a type has members.
pub(crate) fn is_structure(tree: &EntryTree, place: usize) -> bool {
    let tag = tree.get(place).tag;
    matches!(
        tag,
        gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type
    )
}

pub(crate) fn size_of(tree: &EntryTree, place: usize) -> Option<u64> {
    let at = tree.plain(place)?;
    let entry = tree.get(at);
    match entry.tag {
        gimli::DW_TAG_array_type if entry.size.is_none() => {
            let element = size_of_element(tree, at, 0)?;
            dimensions(tree, at).try_fold(element, |bytes, count| bytes.checked_mul(count?))
        }
        gimli::DW_TAG_pointer_type
        | gimli::DW_TAG_reference_type
        | gimli::DW_TAG_rvalue_reference_type => Some(entry.size.unwrap_or(8)),
        _ => entry.size,
    }
}

fn size_of_element(tree: &EntryTree, array: usize, depth: usize) -> Option<u64> {
    let element = tree.plain(tree.type_of(array)?)?;
    let nested = tree.get(element).tag == gimli::DW_TAG_array_type;
    if nested && depth >= DEPTH_MAX {
        return None;
    }
    if nested && tree.get(element).size.is_none() {
        let inner = size_of_element(tree, element, depth + 1)?;
        return dimensions(tree, element).try_fold(inner, |bytes, count| bytes.checked_mul(count?));
    }
    if nested { tree.get(element).size } else { size_of(tree, element) }
}

/// The lengths of an array's dimensions; `None` for one that is not constant.
fn dimensions(tree: &EntryTree, array: usize) -> impl Iterator<Item = Option<u64>> + '_ {
    let dimension = |&at: &usize| tree.get(at).tag == gimli::DW_TAG_subrange_type;
    tree.children(array).filter(dimension).map(|at| tree.get(at).count)
}

/// The name of a type as the program has it, or of its element.
fn name_of(tree: &EntryTree, place: usize, plain: usize) -> String {
    if let Some(value) = value_of_node(tree, plain) {
        let at = tree.plain(value).unwrap_or(value);
        let counted = starts_with_any(tree.name(plain), &["_Sp_counted_ptr_inplace<"]);
        let what = if counted { "control block" } else { "node" };
        return shortened(format!("{what} of {}", qualified(tree, at)));
    }
    // A structure without a name is known by its alias.
    let alias =
        is_structure(tree, plain) && tree.plain(place) == Some(plain) && tree.name(plain).is_none();
    shortened(qualified(tree, if alias { named(tree, place) } else { plain }))
}

/// The first type with a name behind qualifiers.
fn named(tree: &EntryTree, place: usize) -> usize {
    let mut at = place;
    for _ in 0..DEPTH_MAX {
        if tree.name(at).is_some() {
            break;
        }
        let Some(next) = tree.type_of(at) else { break };
        at = next;
    }
    at
}

fn qualified(tree: &EntryTree, place: usize) -> String {
    let at = place;
    if tree.get(at).tag == gimli::DW_TAG_pointer_type {
        let pointed = tree.type_of(at).map(|to| named(tree, to));
        return pointed.map_or_else(
            || "void *".to_owned(),
            |to| {
                let name = tree.name(to).unwrap_or_default();
                if name.is_empty() { "pointer".to_owned() } else { format!("{name} *") }
            },
        );
    }
    let Some(name) = tree.name(at) else { return String::new() };
    let mut scopes = tree.scopes(at);
    scopes.retain(|scope| !scope.starts_with("__"));
    if tree.get(at).tag == gimli::DW_TAG_base_type || scopes.is_empty() {
        return name;
    }
    format!("{}::{name}", scopes.join("::"))
}

/// A name without the additions of C++ libraries, and not too long.
fn shortened(name: String) -> String {
    let mut name = without_defaults(name);
    if name.len() > NAME_BYTES_MAX {
        let end = (0..=NAME_BYTES_MAX).rev().find(|&at| name.is_char_boundary(at)).unwrap_or(0);
        name.truncate(end);
        name.push('…');
    }
    name
}

/// Leaves out the template arguments that programs usually leave out.
fn without_defaults(mut name: String) -> String {
    const DEFAULTS: &[&str] = &[
        ", std::allocator<",
        ", std::char_traits<",
        ", std::less<",
        ", std::hash<",
        ", std::equal_to<",
        ", std::default_delete<",
    ];
    name = name.replace("__cxx11::", "");
    for default in DEFAULTS {
        while let Some(start) = name.find(default) {
            let mut depth = 0_u32;
            let end = name[start..].find(|letter| {
                depth += u32::from(letter == '<');
                depth -= u32::from(letter == '>' && depth > 0);
                letter == '>' && depth == 0
            });
            let Some(end) = end else { break };
            name.replace_range(start..=start + end, "");
        }
    }
    name = name.replace("basic_string<char >", "string").replace("basic_string<char>", "string");
    while name.contains(" >") {
        name = name.replace(" >", ">");
    }
    name
}

fn starts_with_any(name: Option<String>, prefixes: &[&str]) -> bool {
    name.is_some_and(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
}

/// Whether a type is internal to the C++ library, so that its members mean nothing to the
/// programmer.
fn is_opaque(tree: &EntryTree, place: usize) -> bool {
    let library = ["std", "__gnu_cxx", "boost"];
    let outermost = tree.scopes(place).into_iter().next();
    outermost.is_some_and(|scope| library.contains(&scope.as_str()))
        && !starts_with_any(tree.name(place), TRANSPARENT)
}

pub(crate) fn type_parameter(tree: &EntryTree, place: usize) -> Option<usize> {
    let parameter = |&at: &usize| tree.get(at).tag == gimli::DW_TAG_template_type_parameter;
    tree.origins(place)
        .find_map(|at| tree.children(at).find(parameter))
        .and_then(|at| tree.type_of(at))
}

fn value_of_node(tree: &EntryTree, place: usize) -> Option<usize> {
    let node = is_structure(tree, place) && starts_with_any(tree.name(place), NODES);
    if node { type_parameter(tree, place) } else { None }
}

struct Fields<'t> {
    tree: &'t EntryTree,
    found: Vec<DataField>,
    /// Members visited so far.
    visits: usize,
}

impl Fields<'_> {
    fn add_members(&mut self, place: usize, start: u64, prefix: &str, depth: usize) {
        let tree = self.tree;
        for child in tree.children(place) {
            let member = tree.get(child);
            self.visits += 1;
            if self.visits > VISITS_MAX || self.found.len() >= FIELDS_MAX {
                return;
            }
            if member.declares {
                continue;
            }
            let Some(type_of) = tree.type_of(child).and_then(|at| tree.plain(at)) else { continue };
            // Members of a union have no offset: it is 0.
            let Some(at) = start.checked_add(member.at.unwrap_or(0)) else { continue };
            match member.tag {
                gimli::DW_TAG_inheritance => {
                    let size = size_of(tree, type_of).unwrap_or(0);
                    if is_opaque(tree, type_of) {
                        // A base without members has a size of 1 and takes no room.
                        let name = tree.name(type_of).unwrap_or_default();
                        self.push(at, if size > 1 { size } else { 0 }, joined(prefix, &name));
                    } else if depth < DEPTH_MAX {
                        self.add_members(type_of, at, prefix, depth + 1);
                    }
                }
                gimli::DW_TAG_member => {
                    let name = tree.name(child).unwrap_or_else(|| alternatives(tree, type_of));
                    if let Some(size) = member.size {
                        self.push(at, size, joined(prefix, &name));
                    } else {
                        self.add(type_of, at, &joined(prefix, &name), depth + 1);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds a value of the type at `place`, at an offset, with its members if it has any.
    fn add(&mut self, place: usize, at: u64, name: &str, depth: usize) {
        let tree = self.tree;
        let entry = tree.get(place);
        if depth >= DEPTH_MAX {
            self.push(at, size_of(tree, place).unwrap_or(0), name.to_owned());
            return;
        }
        if starts_with_any(tree.name(place), BUFFERS) {
            // The buffer's own name is uninformative; the names of its contents are used instead.
            if let Some(value) = type_parameter(tree, place).and_then(|value| tree.plain(value)) {
                let whole = if is_structure(tree, value) && !is_opaque(tree, value) {
                    String::new()
                } else {
                    "value".to_owned()
                };
                self.add(value, at, &whole, depth + 1);
                return;
            }
        }
        match entry.tag {
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type if !is_opaque(tree, place) => {
                let before = self.found.len();
                self.add_members(place, at, name, depth);
                if self.found.len() == before {
                    self.push(at, entry.size.unwrap_or(0), name.to_owned());
                }
            }
            gimli::DW_TAG_array_type => self.add_array(place, at, name, depth),
            _ => self.push(at, size_of(tree, place).unwrap_or(0), name.to_owned()),
        }
    }

    fn add_array(&mut self, array: usize, at: u64, name: &str, depth: usize) {
        let tree = self.tree;
        let whole = size_of(tree, array).unwrap_or(0);
        let element = tree.type_of(array).and_then(|element| tree.plain(element));
        let structure = element.filter(|&e| is_structure(tree, e) && !is_opaque(tree, e));
        let stride = structure.and_then(|element| size_of(tree, element)).unwrap_or(0);
        let narrow = |n: u64| u32::try_from(n).ok();
        let repeats = whole
            .checked_div(stride)
            .and_then(|count| Some((narrow(count)?, narrow(stride)?)))
            .filter(|&(count, _)| count > 0);
        let (Some(element), Some(repeats)) = (structure, repeats) else {
            self.push(at, whole, name.to_owned());
            return;
        };
        let before = self.found.len();
        self.add_members(element, at, &format!("{name}[]"), depth);
        // For nested arrays only the inner one is divided into elements.
        if self.found[before..].iter().any(|field| field.repeats.0 > 1) {
            self.found.truncate(before);
            self.push(at, whole, name.to_owned());
        }
        for field in &mut self.found[before..] {
            if field.repeats == (0, 0) && field.size < whole {
                field.repeats = repeats;
            }
        }
    }

    fn push(&mut self, offset: u64, size: u64, name: String) {
        if self.found.len() < FIELDS_MAX && size > 0 && !name.is_empty() {
            self.found.push(DataField { offset, size, name, repeats: (0, 0) });
        }
    }
}

/// The names of the members of a union without a name; nothing for other types.
fn alternatives(tree: &EntryTree, place: usize) -> String {
    if tree.get(place).tag != gimli::DW_TAG_union_type {
        return String::new();
    }
    tree.children(place).filter_map(|at| tree.name(at)).collect::<Vec<_>>().join("|")
}

/// A member's name, after those of the structures that contain it.
fn joined(prefix: &str, name: &str) -> String {
    match (prefix.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (false, true) => prefix.to_owned(),
        (false, false) => format!("{prefix}.{name}"),
    }
}

pub(crate) fn is_integer(tree: &EntryTree, place: usize) -> bool {
    tree.plain(place).is_some_and(|at| {
        let whole =
            matches!(tree.get(at).encoding, Some(gimli::DW_ATE_signed | gimli::DW_ATE_unsigned));
        tree.get(at).tag == gimli::DW_TAG_base_type && whole
            || tree.get(at).tag == gimli::DW_TAG_enumeration_type
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_leave_out_what_programs_leave_out() {
        let cases = [
            (
                "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
                "std::string",
            ),
            (
                "std::vector<std::pair<int const, A>, std::allocator<std::pair<int const, A> > >",
                "std::vector<std::pair<int const, A>>",
            ),
            ("shop::Tally", "shop::Tally"),
            ("cut, std::allocator<short", "cut, std::allocator<short"),
        ];
        for (name, short) in cases {
            assert_eq!(shortened(name.to_owned()), short);
        }
        assert!(shortened("é".repeat(1000)).len() <= NAME_BYTES_MAX + '…'.len_utf8());
    }

    #[test]
    fn members_are_reached_by_their_path() {
        assert_eq!(joined("at", "x"), "at.x");
        assert_eq!((joined("", "x"), joined("at", "")), ("x".to_owned(), "at".to_owned()));
    }
}
