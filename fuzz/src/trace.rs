//! Fuzz functions of the trace store.

use homenode_trace::{Batch, TraceReader, Want};

/// The function of a fuzz target.
type Target = fn(&[u8]);

/// All functions by name; each has a file with that name in `fuzz_targets/`.
pub const TARGETS: &[(&str, Target)] = &[("reader", reader), ("chunk", chunk), ("repair", repair)];

/// Opens the bytes as a trace and reads all of it.
pub fn reader(data: &[u8]) {
    let Ok(trace) = TraceReader::from_bytes(data.to_vec(), "fuzz") else { return };
    let _ = serde_json::to_string(&trace.info());
    let mut batch = Batch::default();
    for index in 0..trace.chunks().len() {
        for want in [Want::default(), Want::ALL] {
            if trace.read_chunk(index, want, &mut batch).is_ok() {
                assert_eq!(batch.len(), trace.chunks()[index].rows as usize);
                let sizes = batch.accesses().map(|access| u64::from(access.size));
                assert!(sizes.sum::<u64>() <= 64 * batch.len() as u64);
            }
        }
    }
    let _ = trace.verify();
}

/// Reads the bytes as one chunk, with corrected checksums: with wrong ones, random changes would
/// never reach the decoder.
pub fn chunk(data: &[u8]) {
    if let Some(file) = sealed(data) {
        reader(&file);
    }
}

/// Repairs the bytes; the result must be a valid trace.
pub fn repair(data: &[u8]) {
    let mut out = Vec::new();
    let Ok(report) = homenode_trace::repair_bytes(data.to_vec(), "fuzz", &mut out) else { return };
    let trace = TraceReader::from_bytes(out, "repaired").expect("a repaired trace opens");
    trace.verify().expect("a repaired trace is valid");
    assert_eq!(trace.references(), report.references);
}

/// A file with the given chunk, with all lengths and checksums correct.
#[must_use]
pub fn sealed(chunk: &[u8]) -> Option<Vec<u8>> {
    let (head, body) = chunk.split_at_checked(80)?;
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let mut head = head.to_vec();
    head[..4].copy_from_slice(b"HNTC");
    head[8..12].copy_from_slice(&u32::try_from(body.len()).ok()?.to_le_bytes());
    head[12..16].copy_from_slice(&crc32fast::hash(body).to_le_bytes());
    // The first chunk begins at Time 0.
    head[48..56].fill(0);
    let references: u64 = [24, 28, 32].iter().map(|&at| u64::from(word(at))).sum();
    let (rows, threads) = (word(16), word(72) as usize);
    let crc = crc32fast::hash(&head[8..]);
    head[4..8].copy_from_slice(&crc.to_le_bytes());
    let table = body.get(..threads.checked_mul(6)?)?;

    let mut file = b"\x89HNT\r\n\x1a\n\x01\x00".to_vec();
    file.push(head[76] & 15);
    file.resize(28, 0);
    file.extend(crc32fast::hash(&file).to_le_bytes());
    file.extend(&head);
    file.extend(body);
    let footer_offset = file.len() as u64;
    let mut footer = b"HNTF\x01\x00\x00\x00".to_vec();
    footer.extend(u64::from(rows).to_le_bytes());
    footer.extend(references.to_le_bytes());
    footer.extend([0; 16]);
    footer.extend(u32::try_from(head.len() + table.len()).ok()?.to_le_bytes());
    footer.extend([head[76] & 15, 0, 0, 0]);
    footer.extend(2u64.to_le_bytes());
    footer.extend(2u64.to_le_bytes());
    footer.extend(&head);
    footer.extend(table);
    footer.extend(b"{}");
    let mut trailer = footer_offset.to_le_bytes().to_vec();
    trailer.extend((footer.len() as u64).to_le_bytes());
    trailer.extend(crc32fast::hash(&footer).to_le_bytes());
    trailer.extend(crc32fast::hash(&trailer).to_le_bytes());
    trailer.extend(b"HNTEND\r\n");
    file.extend(footer);
    file.extend(trailer);
    Some(file)
}
