//! Whose a source file is: the program's, a package's that it is built from, or the system's.

/// Parts of paths of headers and standard libraries: of C++, and of Rust and Go wherever their
/// tools are installed.
const SYSTEM_PARTS: &[&str] = &[
    "/include/c++/",
    "/lib/gcc/",
    "/lib/clang/",
    "/lib/rustlib/src/rust/",
    "/golang.org/toolchain@",
    "/sdk/go1.",
    // The recorder's own runtime.
    "/homenode/capture/runtime/",
];
/// Folders that hold no files of the program's own. Compiled code of Rust's standard library has
/// `/rustc/` and a commit.
const SYSTEM_FOLDERS: &[&str] = &[
    "/usr/include/",
    "/usr/lib/",
    "/usr/local/include/",
    "/usr/src/",
    "/usr/local/go/src/",
    "/usr/share/go-",
    "/rustc/",
];
/// Parts of paths of downloaded packages: of Rust and of Go.
const PACKAGE_PARTS: &[&str] =
    &["/.cargo/registry/src/", "/cargo/registry/src/", "/.cargo/git/checkouts/", "/pkg/mod/"];

/// Whose a source file is, the most interesting to the program's author first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceOwner {
    /// The program's own, or unknown.
    Program,
    /// A package's that the program is built from.
    Package,
    /// A library's of the system or of a language, or one of its headers.
    System,
}

/// Whose a source file is, by its path.
pub fn source_owner(path: &str) -> SourceOwner {
    let any = |parts: &[&str]| parts.iter().any(|part| path.contains(part));
    if SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder)) || any(SYSTEM_PARTS) {
        SourceOwner::System
    } else if any(PACKAGE_PARTS) {
        SourceOwner::Package
    } else {
        SourceOwner::Program
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_libraries_are_the_systems() {
        for path in [
            "/usr/include/c++/12/bits/stl_vector.h",
            "/opt/gcc/include/c++/14/vector",
            "/rustc/59807616e1/library/core/src/sync/atomic.rs",
            "/home/a/.rustup/toolchains/stable/lib/rustlib/src/rust/library/alloc/src/vec/mod.rs",
            "/usr/local/go/src/runtime/malloc.go",
            "/home/a/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.26.linux-amd64/src/sync/pool.go",
        ] {
            assert_eq!(source_owner(path), SourceOwner::System, "{path}");
        }
    }

    #[test]
    fn packages_are_between_the_program_and_the_system() {
        let package = source_owner("/root/.cargo/registry/src/index-1/rayon-1.10/src/lib.rs");
        assert_eq!(package, SourceOwner::Package);
        assert_eq!(source_owner("/root/go/pkg/mod/github.com/a/b@v1/c.go"), SourceOwner::Package);
        assert!(source_owner("/home/a/main.rs") < package && package < SourceOwner::System);
        assert_eq!(source_owner(""), SourceOwner::Program);
    }
}
