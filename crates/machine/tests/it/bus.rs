//! The machine on a bus: table 4 of Foglia, Giorgi and Prete, and errors in files.

use homenode_base::BlockSize;
use homenode_machine::{
    Arbitration, CacheShape, CachedMachine, Dispatch, Machine, MachineError, PricedMachine, TABLE,
};

fn from_toml(text: &str, origin: &str) -> Result<CachedMachine, MachineError> {
    let machine = Machine::from_toml(text, origin)?;
    let Machine::Cached(on_bus) = machine else { panic!("{origin} is not on a bus") };
    Ok(on_bus)
}

/// Foglia, Giorgi and Prete 2004, table 4: all 28 bus entries and the processor's four.
#[test]
fn table_4_comes_out_exactly() {
    let machine = CachedMachine::parse("bus-smp").unwrap();
    let printed: [(u64, [u64; 7]); 4] = [
        (32, [5, 5, 68, 68, 12, 12, 8]),
        (64, [5, 5, 72, 72, 16, 16, 12]),
        (128, [5, 5, 80, 80, 24, 24, 20]),
        (256, [5, 5, 96, 96, 40, 40, 36]),
    ];
    for (bytes, expected) in printed {
        let cycles = machine.cycles(BlockSize::new(bytes).unwrap()).unwrap().unwrap();
        let found = [
            cycles.invalidate,
            cycles.write,
            cycles.read_block_memory,
            cycles.read_invalidate_memory,
            cycles.read_block_cache,
            cycles.read_invalidate_cache,
            cycles.update_block,
        ];
        assert_eq!(found, expected, "{bytes} bytes");
        assert_eq!(machine.processor.operation_cycles, 2);
        let wait = cycles.read_block_memory - cycles.read_block_cache;
        assert_eq!(machine.bus().unwrap().model.wait_cycles, wait, "what a split bus is free for");
    }
}

#[test]
fn the_machine_is_that_of_sections_4_and_5() {
    let machine = CachedMachine::parse("bus-smp").unwrap();
    assert_eq!((machine.processor.store_buffer_words, machine.processor.misses_max), (2, 8));
    assert_eq!((machine.processor.window_instructions, machine.processor.blocking), (64, false));
    assert_eq!(
        (machine.processor.issue_width, machine.processor.window_cycles()),
        (Some(4), Some(16))
    );
    assert_eq!((machine.cache.size_bytes, machine.cache.block_size_bytes), (2 << 20, 128));
    assert_eq!((machine.cache.associativity, machine.page_bytes), (2, 4096));
    assert_eq!(
        (machine.bus().unwrap().model.width_bits, machine.bus().unwrap().model.split_transactions),
        (128, true)
    );
    assert_eq!(machine.bus().unwrap().model.arbitration, Arbitration::Fifo);
    assert_eq!(machine.scheduler.policy, Dispatch::Random);
    assert_eq!(machine.scheduler.time_slice_references, 200_000);
}

#[test]
fn every_preset_has_cycles_at_every_block_size() {
    for preset in TABLE {
        let machine = Machine::parse(preset.name).unwrap();
        let Machine::Cached(machine) = machine else { continue };
        for shift in 4..=10 {
            machine.cycles(BlockSize::new(1 << shift).unwrap()).unwrap();
        }
    }
}

#[test]
fn a_file_overrides_what_its_base_says() {
    let text = r#"
        name = "mine"
        kind = "bus"
        base = "bus-smp"
        [cache]
        associativity = { value = 4, source = "test" }
        [transactions.invalidate]
        terms = { constant = 6 }
        source = "test"
    "#;
    let machine = from_toml(text, "mine.toml").unwrap();
    assert_eq!(machine.name(), "mine");
    assert_eq!((machine.cache.associativity, machine.cache.size_bytes), (4, 2 << 20));
    let cycles = machine.cycles(BlockSize::new(64).unwrap()).unwrap().unwrap();
    assert_eq!((cycles.invalidate, cycles.write), (6, 5));
}

#[test]
fn a_file_may_split_the_cache() {
    assert_eq!(CachedMachine::parse("bus-smp").unwrap().instructions, None);
    let text = r#"
        name = "split"
        kind = "bus"
        base = "bus-smp"
        [cache.split]
        size_bytes = { value = 32768, source = "test" }
        associativity = { value = 4, source = "test" }
    "#;
    let machine = from_toml(text, "split.toml").unwrap();
    let CacheShape { block_size_bytes, .. } = machine.cache;
    let wanted = CacheShape { size_bytes: 32768, block_size_bytes, associativity: 4 };
    assert_eq!((machine.instructions, machine.cache.size_bytes), (Some(wanted), 2 << 20));
    let error = from_toml(&text.replace("associativity", "ways"), "x.toml");
    let error = error.unwrap_err().to_string();
    assert!(error.contains("unknown field `ways`"), "{error}");
}

#[test]
fn numbers_that_no_machine_can_have_are_refused() {
    let file = |table: &str, key: &str, value: &str| {
        let text = format!(
            "name = 'x'\nbase = 'bus-smp'\n[{table}]\n{key} = {{ value = {value}, source = 'x' }}\n"
        );
        from_toml(&text, "x.toml").map_err(|error| error.to_string())
    };
    let cases = [
        ("bus", "width_bits", "0", "bus.width_bits is 0"),
        ("bus", "width_bits", "7", "bus.width_bits is 7: expected whole bytes"),
        ("processor", "misses_max", "0", "say blocking = { value = true"),
        ("processor", "window_instructions", "0", "processor.window_instructions is 0"),
        ("processor", "issue_width", "0", "processor.issue_width is 0"),
        ("processor", "operation_cycles", "18446744073709551615", "expected at most 4294967296"),
        ("scheduler", "wait_cycles", "18446744073709551615", "scheduler.wait_cycles is 184"),
        ("scheduler", "time_slice_references", "0", "scheduler.time_slice_references is 0"),
        ("memory", "page_bytes", "0", "memory.page_bytes is 0: expected a power of two"),
        ("memory", "page_bytes", "2147483648", "at most 1073741824"),
        ("cache", "block_size_bytes", "3", "block_size_bytes: block size 3 is not a power of two"),
    ];
    for (table, key, value, expected) in cases {
        let error = file(table, key, value).unwrap_err();
        assert!(error.starts_with("machine x.toml: "), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(file("bus", "width_bits", "8").unwrap().bus().unwrap().model.width_bits, 8);
    // A processor that waits for every miss has no use for these numbers.
    let blocking = "name = 'x'\nbase = 'bus-smp'\n[processor]\n\
                    blocking = { value = true, source = 'x' }\n\
                    misses_max = { value = 0, source = 'x' }\n\
                    window_instructions = { value = 0, source = 'x' }\n";
    assert_eq!(from_toml(blocking, "x.toml").unwrap().processor.misses_max, 0);
}

#[test]
fn errors_in_a_file_are_reported() {
    let cases = [
        ("kind = 'bus'\nbase = 'numa'", "base \"numa\": expected one of bus-smp"),
        ("name = 'x'\nkind = 'bus'", "missing field `summary`"),
        ("kind = 'bus'\nbase = 'bus-smp'\n[cache]\nways = 2", "unknown field `ways`"),
        ("kind =", "line 1: "),
        (
            "kind = 'bus'\nbase = 'bus-smp'\n[transactions.snoop]\nterms = {}\nsource = 'x'",
            "transactions.snoop is unknown, expected read_block_memory",
        ),
        (
            "kind = 'bus'\nbase = 'bus-smp'\n[bus]\nwidth_bits = 64",
            "line 4: invalid type: integer `64`, expected a number with its source, as in { value",
        ),
    ];
    for (text, expected) in cases {
        let error = from_toml(text, "x.toml").unwrap_err().to_string();
        assert!(error.starts_with("machine x.toml: "), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    let text = "kind = 'bus'\nbase = 'bus-smp'\n[transactions.write]\n\
                terms = { block_bytes = 0.01 }\nsource = 'x'";
    let machine = from_toml(text, "x.toml").unwrap();
    let error = machine.cycles(BlockSize::new(64).unwrap()).unwrap_err().to_string();
    assert!(error.contains("no whole number of cycles at 64-byte blocks"), "{error}");
    let error = PricedMachine::parse("bus-smp").unwrap_err().to_string();
    assert!(error.contains("--machine bus-smp --protocol"), "{error}");
}
