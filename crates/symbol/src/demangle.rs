//! Demangling: symbol names as the programmer wrote them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

/// Longest demangled name. Mangled names can be contrived to grow exponentially; no legible name is
/// longer than this.
const NAME_BYTES_MAX: usize = 4096;

/// Nesting that the demangler follows before it gives up.
const DEPTH_MAX: u32 = 96;

/// Prefix of the names by which the GNU C library calls its own functions.
const GLIBC_INTERNAL_PREFIX: &str = "__GI_";

/// The spelling of an anonymous namespace. The demangler of Rust names, which C++ names resemble,
/// leaves it unchanged.
const ANONYMOUS: &str = "_GLOBAL__N_1";

/// The name as written in the source, for names mangled by Rust, C++ or Fortran compilers, and for
/// the GNU C library's internal names. Any other name, and one that is malformed or absurdly long,
/// is returned unchanged.
///
/// ```
/// assert_eq!(homenode_symbol::demangle("_ZN5Queue4pushEi"), "Queue::push(int)");
/// assert_eq!(homenode_symbol::demangle("__GI___libc_malloc"), "__libc_malloc");
/// assert_eq!(homenode_symbol::demangle("main"), "main");
/// ```
#[must_use]
pub fn demangle(name: &str) -> String {
    if name.len() <= NAME_BYTES_MAX {
        let mut out = Bounded(String::new());
        if let Ok(rust) = rustc_demangle::try_demangle(name)
            && fmt::write(&mut out, format_args!("{rust:#}")).is_ok()
        {
            return out.0.replace(ANONYMOUS, "(anonymous namespace)");
        }
        if let Some(cxx) = demangle_cxx(name) {
            return cxx;
        }
        if let Some(of_module) = demangle_fortran(name) {
            return of_module;
        }
    }
    name.strip_prefix(GLIBC_INTERNAL_PREFIX)
        .filter(|plain| !plain.is_empty())
        .unwrap_or(name)
        .to_owned()
}

/// Demangled names, each of which is worked out once: a function has many addresses, and those of
/// inlined ones are its callers' as well.
#[derive(Default)]
pub(crate) struct DemangledNames(RefCell<HashMap<Box<str>, Box<str>>>);

impl DemangledNames {
    /// As [`demangle`].
    pub(crate) fn demangled(&self, name: &str) -> String {
        if let Some(known) = self.0.borrow().get(name) {
            return known.to_string();
        }
        let found = demangle(name);
        self.0.borrow_mut().insert(name.into(), found.as_str().into());
        found
    }
}

/// A name in a Fortran module, as gfortran mangles it: `__grid_MOD_cells` is `grid::cells`.
fn demangle_fortran(name: &str) -> Option<String> {
    let (module, inner) = name.strip_prefix("__")?.split_once("_MOD_")?;
    (!module.is_empty() && !inner.is_empty()).then(|| format!("{module}::{inner}"))
}

fn demangle_cxx(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    let parse = cpp_demangle::ParseOptions::default().recursion_limit(DEPTH_MAX);
    let show = cpp_demangle::DemangleOptions::new().recursion_limit(DEPTH_MAX);
    let symbol = cpp_demangle::Symbol::new_with_options(name, &parse).ok()?;
    let mut out = Bounded(String::new());
    symbol.structured_demangle(&mut out, &show).ok()?;
    Some(out.0)
}

/// A string that refuses to grow past [`NAME_BYTES_MAX`].
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        if self.0.len() + s.len() > NAME_BYTES_MAX {
            return Err(fmt::Error);
        }
        self.0.push_str(s);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_three_languages() {
        assert_eq!(demangle("band_rows"), "band_rows");
        assert_eq!(demangle("_ZZ4mainE7counter"), "main::counter");
        assert_eq!(demangle("_ZN12_GLOBAL__N_110scoreboardE"), "(anonymous namespace)::scoreboard");
        assert_eq!(
            demangle("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"),
            "core::fmt::Write::write_fmt"
        );
        assert_eq!(demangle("_Zgarbage"), "_Zgarbage");
        assert_eq!(demangle("__grid_MOD_cells"), "grid::cells");
        assert_eq!(demangle("__MOD_cells"), "__MOD_cells");
    }

    /// Each level uses the one before twice, so forty levels would be 2^40 characters.
    #[test]
    fn a_name_that_explodes_stays_mangled() {
        let mut bomb = String::from("_Z1fI1AE");
        let mut last = String::from("S_");
        for level in 0..40 {
            bomb.push_str(&format!("PFv{last}{last}E"));
            last = format!("S{}_", radix36(level));
        }
        assert!(demangle(&bomb).len() <= NAME_BYTES_MAX.max(bomb.len()));
    }

    fn radix36(value: u32) -> String {
        let digit = |d: u32| char::from_digit(d, 36).unwrap().to_ascii_uppercase();
        match value {
            0..36 => digit(value).to_string(),
            _ => format!("{}{}", digit(value / 36), digit(value % 36)),
        }
    }
}
