#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| homenode_fuzz::import::import("champsim", data));
