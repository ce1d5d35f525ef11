//! The table of designs, and TLBs by name and parameters.

use homenode_tlb::{TABLE, TlbSpec};

/// Bolosky §6.3.2, the second paragraph after figure 6.10.
#[test]
fn the_designs_are_those_of_the_thesis() {
    let found = TABLE
        .iter()
        .map(|e| (e.name, e.geometry.sets(), e.geometry.ways, e.geometry.paired, e.miss_cost));
    let expected = [
        ("ace", 16, 2, false, Some(2.5)),
        ("68040", 16, 4, false, None),
        ("68851", 1, 64, false, None),
        ("88200", 1, 56, false, None),
        ("68030", 1, 22, false, None),
        ("r4000", 1, 48, true, Some(10.0)),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

fn shape(text: &str) -> (u32, u32, bool, Option<f64>) {
    let spec = TlbSpec::parse(text).unwrap();
    (spec.geometry.sets(), spec.geometry.ways, spec.geometry.paired, spec.miss_cost)
}

#[test]
fn names_and_parameters_mix() {
    assert_eq!(shape("ace"), (16, 2, false, Some(2.5)));
    assert_eq!(shape("entries=64,ways=4,paired=no"), (16, 4, false, None));
    assert_eq!(shape("entries=48,paired=yes,cost=1.5"), (1, 48, true, Some(1.5)));
    assert_eq!(shape("r4000:entries=96"), (1, 96, true, Some(10.0)));
    assert_eq!(shape("ace:ways=1,cost=3"), (32, 1, false, Some(3.0)));
}

fn texts(lists: &[&str]) -> Result<Vec<String>, String> {
    let tlbs = TlbSpec::parse_list(lists).map_err(|e| e.to_string())?;
    Ok(tlbs.into_iter().map(|tlb| tlb.text).collect())
}

#[test]
fn lists_keep_parameters_with_their_item() {
    let given = ["68030:entries=8,cost=2,ace", "entries=8,ways=1,entries=4", "ace"];
    let items = ["68030:entries=8,cost=2", "ace", "entries=8,ways=1", "entries=4"];
    assert_eq!(texts(&given).unwrap(), items);
    assert!(texts(&["ace,ways=2"]).unwrap_err().contains("entries is missing"));
    assert!(texts(&["ace,"]).unwrap_err().contains("unknown TLB \"\""));
}

#[test]
fn what_cannot_be_built_is_explained() {
    let cases = [
        ("vax", "unknown TLB \"vax\": expected one of ace, 68040, 68851, 88200, 68030, r4000"),
        ("", "unknown TLB \"\""),
        ("vax:entries=4", "unknown TLB \"vax\""),
        ("ways=4", "entries is missing"),
        ("ace:", "expected parameter=value, found \"\""),
        ("ace:size=3", "unknown parameter \"size\"; the parameters are entries, ways"),
        ("entries=0", "expected a whole number from 1 to 65536"),
        ("entries=64,ways=5", "64 entries cannot be divided into sets of 5"),
        ("entries=48,ways=4", "make 12 sets; the lowest bits"),
        ("entries=4,paired=maybe", "expected yes or no"),
        ("entries=4,cost=-1", "expected local references, at least 0"),
        ("entries=4,cost=nan", "expected local references, at least 0"),
        ("entries=4,entries=4", "entries is given twice"),
    ];
    for (text, expected) in cases {
        let error = TlbSpec::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}
