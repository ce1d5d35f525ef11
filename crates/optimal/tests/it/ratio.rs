//! Numbers that are read and compared exactly.

use homenode_optimal::Ratio;

#[test]
fn numbers_are_read_exactly_and_compared_exactly() {
    let read = |text: &str| text.parse::<Ratio>().unwrap();
    assert_eq!(read("12.50").to_string(), "25/2");
    assert_eq!(read("6/4"), read("1.5"));
    assert_eq!(read("15").to_string(), "15");
    assert!(read("1/3") > read("0.333333333") && read("1/3") < read("0.333333334"));
    for bad in ["", "-1", "1/0", "1.", ".5", "1e3", "inf", "1/2/3", "1.0000000001"] {
        assert!(bad.parse::<Ratio>().is_err(), "{bad}");
    }
}
