//! Debug information in a file of its own, as distributions ship it for stripped programs.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::Object;

use crate::{SymbolError, elf};

/// Where Linux distributions install debug information.
pub const DEBUG_FOLDER: &str = "/usr/lib/debug";

/// Longest build identifier accepted: those in use have 20 bytes (SHA-1), but a note could claim
/// any length.
const BUILD_ID_BYTES_MAX: usize = 64;

/// A program's references to the file with its debug information.
///
/// | section | what it holds |
/// |---|---|
/// | `.note.gnu.build-id` | an identifier of the build, which both files have |
/// | `.gnu_debuglink` | the other file's name, zeros up to a multiple of 4 bytes, its CRC-32 |
///
/// Source: the GDB manual, section "Debugging Information in Separate Files".
#[derive(Debug, Default)]
pub(crate) struct DebugLink {
    build_id: Vec<u8>,
    name: Option<(PathBuf, u32)>,
}

impl DebugLink {
    /// Reads both sections of a program; damaged ones count as absent.
    pub(crate) fn of(program: &object::File<'_>) -> Self {
        Self { build_id: build_id(program), name: debug_link(program) }
    }

    /// Possible paths of the file, the likeliest first: by the build identifier under `folder`,
    /// then by name beside the program, in `.debug` there, and under `folder` followed by the
    /// program's own folder.
    pub(crate) fn candidates(&self, program: &Path, folder: &Path) -> Vec<PathBuf> {
        let mut places = Vec::new();
        if let Some((first, rest)) = self.build_id.split_first().filter(|(_, r)| !r.is_empty()) {
            let file = format!("{}.debug", hex(rest));
            places.push(folder.join(".build-id").join(hex(&[*first])).join(file));
        }
        if let (Some((name, _)), Some(home)) = (&self.name, program.parent()) {
            places.push(home.join(name));
            places.push(home.join(".debug").join(name));
            places.push(folder.join(home.strip_prefix("/").unwrap_or(home)).join(name));
        }
        places.retain(|place| place != program);
        places
    }

    /// Whether a file with these bytes belongs to the program.
    ///
    /// Files of one build have equal identifiers; if one of them has none, the checksum that the
    /// program has of the debug file decides.
    ///
    /// # Errors
    /// [`SymbolError::OtherBuild`] when it does not, or neither file shows it.
    pub(crate) fn check(&self, file: &object::File<'_>, bytes: &[u8]) -> Result<(), SymbolError> {
        let found = build_id(file);
        let (what, expected, found) = match &self.name {
            _ if !self.build_id.is_empty() && !found.is_empty() => {
                ("build identifier", hex(&self.build_id), hex(&found))
            }
            Some((_, crc)) => ("CRC-32", format!("{crc:08x}"), format!("{:08x}", crc32(bytes))),
            None => ("build identifier", hex(&self.build_id), "none".to_owned()),
        };
        if expected == found {
            return Ok(());
        }
        Err(SymbolError::OtherBuild { what, expected, found })
    }
}

/// Bytes of the file into which `dwz` has moved the common parts of several debug files.
///
/// The section `.gnu_debugaltlink` has its name and its build identifier. `None` without that
/// section, or if the file is not installed: then fewer queries have an answer.
///
/// # Errors
/// When it cannot be read, or belongs to another build.
pub(crate) fn supplement(
    file: &object::File<'_>,
    path: &Path,
) -> Result<Option<Vec<u8>>, SymbolError> {
    let Some((name, id)) = file.gnu_debugaltlink().ok().flatten() else { return Ok(None) };
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let place = real.parent().unwrap_or(&real).join(OsStr::from_bytes(name));
    if !place.is_file() {
        return Ok(None);
    }
    let bytes = std::fs::read(&place)
        .map_err(|source| SymbolError::Read { path: place.clone(), source })?;
    let in_file = |source| SymbolError::File { path: place.clone(), source: Box::new(source) };
    let found = build_id(&elf::parse(&bytes).map_err(in_file)?);
    if found != id {
        let (expected, found) = (hex(id), hex(&found));
        return Err(in_file(SymbolError::OtherBuild { what: "build identifier", expected, found }));
    }
    Ok(Some(bytes))
}

fn build_id(file: &object::File<'_>) -> Vec<u8> {
    let id = file.build_id().ok().flatten().unwrap_or_default();
    if id.len() > BUILD_ID_BYTES_MAX { Vec::new() } else { id.to_vec() }
}

/// The name of the debug file and its checksum; `None` if the name has a folder in it.
fn debug_link(program: &object::File<'_>) -> Option<(PathBuf, u32)> {
    let (name, crc) = program.gnu_debuglink().ok().flatten()?;
    let name = Path::new(OsStr::from_bytes(name));
    (name.file_name() == Some(name.as_os_str())).then(|| (name.to_owned(), crc))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The checksum of Ethernet and of zip files, reflected, polynomial 04c11db7.
///
/// Cost: one table look-up per byte.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = table();
    !bytes.iter().fold(!0, |crc, byte| {
        let [low, ..] = crc.to_le_bytes();
        (crc >> 8) ^ TABLE[usize::from(low ^ byte)]
    })
}

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let (mut index, mut start) = (0, 0);
    while index < table.len() {
        let (mut crc, mut bit): (u32, u32) = (start, 0);
        while bit < 8 {
            crc = (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
        start += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn files_are_looked_for_where_the_gdb_manual_says() {
        let link = DebugLink {
            build_id: vec![0xab, 0xcd, 0x01],
            name: Some((PathBuf::from("ls.debug"), 1)),
        };
        let found = link.candidates(Path::new("/usr/bin/ls"), Path::new("/usr/lib/debug"));
        let expected = [
            "/usr/lib/debug/.build-id/ab/cd01.debug",
            "/usr/bin/ls.debug",
            "/usr/bin/.debug/ls.debug",
            "/usr/lib/debug/usr/bin/ls.debug",
        ];
        assert_eq!(found, expected.map(PathBuf::from));
        let own = DebugLink { name: Some((PathBuf::from("ls"), 1)), ..DebugLink::default() };
        let places = own.candidates(Path::new("/bin/ls"), Path::new("/d"));
        assert_eq!(places, [PathBuf::from("/bin/.debug/ls"), PathBuf::from("/d/bin/ls")]);
        assert!(DebugLink::default().candidates(Path::new("/bin/ls"), Path::new("/d")).is_empty());
    }
}
