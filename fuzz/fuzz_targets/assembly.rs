#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = homenode_assembly::fuzz_hook(data);
});
