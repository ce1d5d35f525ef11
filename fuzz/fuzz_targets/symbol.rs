#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = homenode_symbol::fuzz_parse(data);
});
