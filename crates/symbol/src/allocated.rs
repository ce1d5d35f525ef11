//! Finds the type of allocated memory from the allocating function and the source line. Returns
//! nothing if two answers are possible.

use crate::layout::{DataType, data_type, is_integer, target, type_parameter};
use crate::tree::EntryTree;

/// Suffixes of the names of functions that return memory without a type.
const ALLOCATORS: &[&str] =
    &["malloc", "calloc", "realloc", "reallocarray", "memalign", "valloc", "strdup", "strndup"];

/// The type of an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocatedType {
    /// The array that Fortran's `allocate` names; otherwise empty.
    pub name: String,
    /// The type of one element.
    pub data: DataType,
    /// Whether the memory may hold several elements, or other data after the first.
    pub several: bool,
}

/// The name of a function without its scope, template arguments and parameters.
pub(crate) fn plain_name(function: &str) -> &str {
    if let Some(at) = function.find("operator ") {
        return function[at..].split('(').next().unwrap_or(function);
    }
    let head = &function[..function.find(['(', '<']).unwrap_or(function.len())];
    let head = head.rsplit("::").next().unwrap_or(head);
    head.rsplit(' ').next().unwrap_or(head)
}

/// Whether a function with this name allocates memory for its caller, as `malloc` does.
pub(crate) fn is_allocator_name(function: &str) -> bool {
    let name = plain_name(function).to_ascii_lowercase();
    name.starts_with("operator new") || ALLOCATORS.iter().any(|end| name.ends_with(end))
}

/// Whether the function returns memory without a type, which its caller determines.
///
/// An allocator returns `void *` and takes a size or is named as one, a copy of a string,
/// and the function by which a C++ allocator's users allocate.
pub(crate) fn passes_on(tree: &EntryTree, function: usize) -> bool {
    let Some(returned) = tree.type_of(function).and_then(|at| tree.plain(at)) else { return false };
    if tree.get(returned).tag != gimli::DW_TAG_pointer_type {
        return false;
    }
    let pointed = tree.type_of(returned).and_then(|at| tree.plain(at));
    let name = tree.name(function).unwrap_or_default().to_ascii_lowercase();
    match pointed {
        None => name.contains("alloc") || takes_integer(tree, function),
        Some(to) if tree.get(to).tag == gimli::DW_TAG_base_type => name.ends_with("dup"),
        Some(_) => container_element(tree, function).is_some(),
    }
}

fn takes_integer(tree: &EntryTree, function: usize) -> bool {
    let integer = |at: usize| {
        tree.get(at).tag == gimli::DW_TAG_formal_parameter
            && tree.type_of(at).is_some_and(|of| is_integer(tree, of))
    };
    tree.origins(function).any(|at| tree.children(at).any(integer))
}

/// The type that `std::allocator<T>::allocate`, similar allocators and `std::make_unique<T>`
/// allocate.
pub(crate) fn container_element(tree: &EntryTree, function: usize) -> Option<usize> {
    let name = tree.name(function)?;
    match name.split('<').next().unwrap_or_default() {
        "allocate" => {
            let pointer = tree.type_of(function).and_then(|at| tree.plain(at))?;
            let element = target(tree, pointer)?;
            let of_class = |at: usize| type_parameter(tree, tree.get(at).parent);
            let parameter = tree.origins(function).find_map(of_class)?;
            (tree.plain(element)? == tree.plain(parameter)?).then_some(element)
        }
        "make_unique" => type_parameter(tree, function),
        _ => None,
    }
}

/// The type that a line of a function allocates. `text` is the line, empty if it is not known. For
/// Fortran's `allocate`, the types of all arrays, in order.
pub(crate) fn allocated_at(
    tree: &EntryTree,
    function: usize,
    line: u32,
    text: &str,
) -> Option<Vec<AllocatedType>> {
    let tokens = tokens(text);
    let named = Lookup { tree, function };
    let one = |data, several| Some(vec![AllocatedType { name: String::new(), data, several }]);
    if tokens.contains(&"new") {
        return one(data_type(tree, named.after_new(&tokens)?)?, true);
    }
    let statement = tokens.iter().position(|token| token.eq_ignore_ascii_case("allocate"));
    if let Some(at) = statement.filter(|&at| tokens.get(at + 1) == Some(&"(")) {
        let array = |(name, at): (&str, usize)| {
            let data = data_type(tree, at)?;
            Some(AllocatedType { name: name.to_ascii_lowercase(), data, several: true })
        };
        return named.allocatables(&tokens[at + 2..])?.into_iter().map(array).collect();
    }
    let candidates = if tokens.is_empty() {
        named.declared(u64::from(line))
    } else {
        named.of_statement(&tokens)
    };
    let mut types = candidates.into_iter().map(|at| data_type(tree, at));
    let data = types.next()??;
    let agree = types.all(|other| other.as_ref() == Some(&data));
    agree.then(|| one(data, !tokens.is_empty() && !tokens.contains(&"+")))?
}

/// Identifiers, numbers, `->`, `::` and single other characters; without comments.
fn tokens(text: &str) -> Vec<&str> {
    let code = text.split("//").next().unwrap_or(text).split("/*").next().unwrap_or_default();
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if word(first) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("->") || rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        found.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    found
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

struct Lookup<'t> {
    tree: &'t EntryTree,
    function: usize,
}

impl Lookup<'_> {
    /// The type in `new T`, if the line has one such expression.
    fn after_new(&self, tokens: &[&str]) -> Option<usize> {
        let mut places = tokens.iter().enumerate().filter(|&(_, &token)| token == "new");
        let (at, _) = places.next()?;
        if places.next().is_some() {
            return None;
        }
        let words: Vec<&str> =
            tokens[at + 1..].iter().copied().take_while(|t| is_word(t) || *t == "::").collect();
        // A template's arguments would have to be compared as well.
        if tokens.get(at + 1 + words.len()) == Some(&"<") {
            return None;
        }
        self.type_called(&words)
    }

    /// The type with this name, if there is only one.
    fn type_called(&self, words: &[&str]) -> Option<usize> {
        let skipped = ["struct", "class", "union", "const", "::", "typename"];
        let path: Vec<&str> = words.iter().copied().filter(|w| !skipped.contains(w)).collect();
        let (last, scopes) = path.split_last()?;
        let base = match (*last, scopes) {
            ("long", []) => "long int",
            ("short", []) => "short int",
            (other, _) => other,
        };
        let fits = |&at: &usize| {
            let entry = self.tree.get(at);
            let is_type = matches!(
                entry.tag,
                gimli::DW_TAG_structure_type
                    | gimli::DW_TAG_class_type
                    | gimli::DW_TAG_union_type
                    | gimli::DW_TAG_typedef
                    | gimli::DW_TAG_base_type
                    | gimli::DW_TAG_enumeration_type
            );
            is_type
                && !entry.declares
                && self.tree.name(at).as_deref() == Some(base)
                && ends_with(&self.tree.scopes(at), scopes)
        };
        let found: Vec<usize> = (0..self.tree.len()).filter(fits).collect();
        self.only(found)
    }

    /// The common type of all of these, if they have one.
    fn only(&self, found: Vec<usize>) -> Option<usize> {
        let first = *found.first()?;
        let plain = |at: usize| self.tree.plain(at);
        let same = |at: usize| {
            plain(at) == plain(first) || data_type(self.tree, at) == data_type(self.tree, first)
        };
        found.iter().all(|&at| same(at)).then_some(first)
    }

    /// The targets of pointers that are declared on a line.
    fn declared(&self, line: u64) -> Vec<usize> {
        let of_line = |&at: &usize| {
            self.tree.get(at).tag == gimli::DW_TAG_variable && self.tree.get(at).line == line
        };
        self.locals().filter(of_line).filter_map(|at| self.target_of(at)).collect()
    }

    /// The types that the parts of a C statement name: cast, `sizeof`, and the target of the
    /// assignment.
    fn of_statement(&self, tokens: &[&str]) -> Vec<usize> {
        let mut found = Vec::new();
        let call = tokens.windows(2).position(|pair| {
            let name = pair[0].to_ascii_lowercase();
            pair[1] == "(" && (name.contains("alloc") || name.ends_with("dup"))
        });
        let Some(call) = call else { return found };
        if tokens[..call].ends_with(&["*", ")"])
            && let Some(open) = tokens[..call].iter().rposition(|&token| token == "(")
        {
            found.extend(self.type_called(&tokens[open + 1..call - 2]));
        }
        for at in (call..tokens.len()).filter(|&at| tokens[at] == "sizeof") {
            found.extend(self.measured(&tokens[at + 1..]));
        }
        if let Some(equals) = tokens[..call].iter().rposition(|&token| token == "=") {
            found.extend(self.assigned(&tokens[..equals]));
        }
        found
    }

    /// The operand of `sizeof`: a type, or the target of a variable.
    fn measured(&self, tokens: &[&str]) -> Option<usize> {
        let inner = tokens.strip_prefix(&["("]).unwrap_or(tokens);
        let pointed = inner.strip_prefix(&["*"]);
        let end = |t: &&&str| is_word(t) || matches!(**t, "::" | "->" | ".");
        let words: Vec<&str> = pointed.unwrap_or(inner).iter().take_while(end).copied().collect();
        let after = pointed.unwrap_or(inner).get(words.len()).copied();
        if pointed.is_some() || after == Some("[") {
            return self.assigned(&words);
        }
        (after == Some(")")).then(|| self.type_called(&words)).flatten()
    }

    /// The target of the variable or member at the end of these tokens.
    fn assigned(&self, tokens: &[&str]) -> Option<usize> {
        let name = *tokens.last().filter(|token| is_word(token))?;
        let before = tokens.len().checked_sub(2).map(|at| tokens[at]);
        if matches!(before, Some("->" | ".")) {
            return self.only(self.members(name));
        }
        let variables = self.variables(name, false);
        self.only(if variables.is_empty() { self.members(name) } else { variables })
    }

    /// The arrays in Fortran's `allocate(a(n), b%c(m))`, and their elements.
    fn allocatables<'s>(&self, tokens: &[&'s str]) -> Option<Vec<(&'s str, usize)>> {
        let mut found = Vec::new();
        let mut depth = 0_u32;
        for (at, &token) in tokens.iter().enumerate() {
            let member = at > 0 && tokens[at - 1] == "%";
            match token {
                "(" => depth += 1,
                ")" if depth == 0 => break,
                ")" => depth -= 1,
                // Options, such as `stat = code`, and the structure of a member are not allocated.
                name if depth == 0
                    && is_word(name)
                    && !matches!(tokens.get(at + 1), Some(&("%" | "=")))
                    && (at == 0 || tokens[at - 1] != "=") =>
                {
                    let known =
                        if member { self.members(name) } else { self.variables(name, true) };
                    found.push(self.only(known).map(|of| (name, of)));
                }
                _ => {}
            }
        }
        found.into_iter().collect()
    }

    /// Variables and parameters of the function.
    fn locals(&self) -> impl Iterator<Item = usize> + '_ {
        let variable = |&at: &usize| {
            matches!(self.tree.get(at).tag, gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter)
        };
        self.tree.origins(self.function).flat_map(|at| self.tree.within(at)).filter(variable)
    }

    /// The targets of the variables with a name: those of the function, else static ones.
    fn variables(&self, name: &str, any_case: bool) -> Vec<usize> {
        let called = |&at: &usize| {
            self.tree.name(at).is_some_and(|found| {
                if any_case { found.eq_ignore_ascii_case(name) } else { found == name }
            })
        };
        let own: Vec<usize> = self.locals().filter(called).collect();
        let outside = |&at: &usize| {
            let around = self.tree.get(self.tree.get(at).parent).tag;
            self.tree.get(at).tag == gimli::DW_TAG_variable
                && matches!(
                    around,
                    gimli::DW_TAG_compile_unit | gimli::DW_TAG_namespace | gimli::DW_TAG_module
                )
        };
        let found = if own.is_empty() {
            (0..self.tree.len()).filter(|at| outside(at) && called(at)).collect()
        } else {
            own
        };
        found.into_iter().filter_map(|at| self.target_of(at)).collect()
    }

    /// The targets of the members with this name, in any structure.
    fn members(&self, name: &str) -> Vec<usize> {
        let called = |&at: &usize| {
            self.tree.get(at).tag == gimli::DW_TAG_member
                && self.tree.name(at).as_deref() == Some(name)
        };
        let members: Vec<usize> = (0..self.tree.len()).filter(called).collect();
        let targets: Vec<usize> = members.iter().filter_map(|&at| self.target_of(at)).collect();
        // If the target of one is unknown, it could be the one that is meant.
        if targets.len() == members.len() { targets } else { Vec::new() }
    }

    fn target_of(&self, variable: usize) -> Option<usize> {
        target(self.tree, self.tree.type_of(variable)?)
    }
}

fn ends_with(scopes: &[String], end: &[&str]) -> bool {
    scopes.len() >= end.len() && scopes[scopes.len() - end.len()..].iter().eq(end.iter())
}
