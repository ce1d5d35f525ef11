#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = homenode_capture::fuzz_report(data);
});
