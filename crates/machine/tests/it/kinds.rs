//! Files of every kind of machine: their kinds and their bases.

use homenode_base::BlockSize;
use homenode_machine::{CachedMachine, KINDS, Machine, MachineKind, PricedMachine, TABLE};

fn kind(text: &str) -> Result<MachineKind, String> {
    Machine::from_toml(text, "x.toml").map(|m| m.kind()).map_err(|e| e.to_string())
}

/// A file on disk, removed when the test is over.
struct File(std::path::PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let name = format!("homenode-kinds-{}-{name}.toml", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

#[test]
fn a_file_of_every_kind_is_read_as_that_kind() {
    for entry in KINDS {
        let (name, base) = (entry.name, entry.example);
        for said in [format!("kind = \"{name}\"\n"), String::new()] {
            let file = File::new(name, &format!("name = \"mine\"\n{said}base = \"{base}\"\n"));
            let machine = Machine::parse(file.0.to_str().unwrap()).unwrap();
            assert_eq!((machine.name(), machine.kind()), ("mine", entry.kind));
            let example = Machine::parse(base).unwrap();
            assert_eq!(machine.summary(), example.summary());
            assert_eq!(machine.block_size_bytes(), example.block_size_bytes());
        }
    }
}

#[test]
fn the_table_has_machines_of_every_kind() {
    for entry in KINDS {
        let of_kind = |name: &str| Machine::parse(name).unwrap().kind() == entry.kind;
        assert!(TABLE.iter().any(|preset| of_kind(preset.name)), "{}", entry.name);
    }
}

#[test]
fn a_file_without_a_kind_has_prices_or_latencies() {
    let price = "[prices.r]\nterms = { constant = 5 }\nsource = \"x\"\n";
    assert_eq!(kind(&format!("name = \"a\"\n{price}")), Ok(MachineKind::Placement));
    let error = kind(&format!("name = \"a\"\nkind = \"page-coherence\"\n{price}")).unwrap_err();
    assert!(error.contains("its kind is page-coherence, but it has no latencies"), "{error}");
    let error = kind("name = \"a\"\nkind = \"placement\"\nbase = \"markatos\"\n").unwrap_err();
    assert!(error.contains("as the kind is placement; markatos is of kind page-co"), "{error}");
}

#[test]
fn an_unknown_kind_names_the_known_ones() {
    let error = kind("name = \"a\"\nkind = \"ring\"\n").unwrap_err();
    let expected = "machine x.toml: line 2: unknown kind \"ring\": expected one of placement, \
                    page-coherence, bus, multicore, directory, controllers";
    assert_eq!(error, expected);
    let error = kind("name = \"a\"\nkind = 3\n").unwrap_err();
    assert_eq!(error, "machine x.toml: line 2: kind: expected a string");
}

#[test]
fn a_base_is_of_the_same_kind() {
    let error = kind("kind = \"bus\"\nname = \"a\"\nbase = \"numa\"\n").unwrap_err();
    let expected = "machine x.toml: line 3: base \"numa\": expected one of bus-smp, as the kind \
                    is bus; numa is of kind placement";
    assert_eq!(error, expected);
    let error = kind("kind = \"placement\"\nbase = \"bus-smp\"\n").unwrap_err();
    assert!(error.contains("line 2: base \"bus-smp\": expected one of ace, butterfly"), "{error}");
    assert!(!error.contains("markatos"), "{error}");
    let error = kind("kind = \"bus\"\nbase = \"vax\"\n").unwrap_err();
    assert!(error.contains("line 2: base: unknown machine \"vax\": expected one of bus-smp"));
    assert!(kind("base = 1\n").unwrap_err().contains("line 1: base: expected a string"));
}

/// A file overrides its base, and that overrides its own base, key by key.
#[test]
fn bases_have_bases() {
    let block = BlockSize::new(4096).unwrap();
    let text = "name = \"mine\"\nbase = \"dsm+\"\n[parameters.latency]\nvalue = 100\n";
    let Machine::Priced(mine) = Machine::from_toml(text, "x").unwrap() else { panic!("no prices") };
    let list = |machine: &PricedMachine| machine.prices(block, false).unwrap();
    // dsm+ takes the price of a move from numa, four latencies of it, and has two in its own r.
    let [numa, dsm] = ["numa", "dsm+"].map(|name| list(&PricedMachine::parse(name).unwrap()));
    assert_eq!(dsm.remote_move, numa.remote_move);
    assert_eq!(list(&mine).remote_move, numa.remote_move.map(|price| price + 4 * 50));
    assert_eq!(list(&mine).remote_reference, dsm.remote_reference.map(|price| price + 2 * 50));
}

/// A formula comes from one file: its terms replace those of the base, and so does infinity.
#[test]
fn a_formula_is_taken_whole() {
    let text = |price: &str| format!("base = \"cc\"\n[prices.r]\n{price}\n");
    let prices = |text: &str| {
        let Machine::Priced(m) = Machine::from_toml(text, "x").unwrap() else {
            panic!("no prices")
        };
        m.prices(BlockSize::new(64).unwrap(), true).unwrap()
    };
    assert_eq!(prices("base = \"cc\"").remote_reference, None);
    let finite = prices(&text("terms = { constant = 7 }\nsource = \"x\""));
    assert_eq!(finite.remote_reference, Some(7));
    let numa = |more: &str| prices(&format!("base = \"numa\"\n[prices.R]\n{more}\n"));
    assert_eq!(numa("infinite = true").remote_move, None);
    assert_eq!(numa("terms = { constant = 900 }").remote_move, Some(900));
}

#[test]
fn a_machine_of_another_kind_says_what_to_do() {
    let error = PricedMachine::parse("bus-smp").unwrap_err().to_string();
    let expected = "machine bus-smp has caches and a bus and no prices of references: simulate it \
                    with coherence protocols (homenode simulate --machine bus-smp --protocol \
                    mesi,pscr), or choose another machine, such as numa";
    assert_eq!(error, expected);
    let error = CachedMachine::parse("markatos").unwrap_err().to_string();
    assert!(error.contains("and no caches and a bus: simulate it with"), "{error}");
    assert!(error.contains("or choose another machine, such as bus-smp"), "{error}");
}

#[test]
fn every_kind_is_found_by_its_name_and_its_number() {
    for entry in KINDS {
        assert_eq!(entry.kind.name(), entry.name);
        assert_eq!(MachineKind::named(entry.name), Some(entry.kind));
    }
    assert_eq!(MachineKind::named("vector"), None);
}

#[test]
fn every_machine_file_is_in_the_table() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
        .collect();
    files.sort();
    let mut listed: Vec<String> = TABLE.iter().map(|p| p.name.to_owned()).collect();
    listed.sort();
    assert_eq!(files, listed);
}
