//! ELF and DWARF: from an address to an object, a function and a source line.
