//! Every proposal for random programs: each word once, values whole, parts on blocks of their own.

use std::collections::{BTreeMap, BTreeSet};

use homenode_advise::kind::TABLE;
use homenode_advise::{
    Candidate, DataObject, Layout, UseSurvey, UseSurveyor, WordLabel, data_objects,
};
use homenode_analysis::Names;
use homenode_base::{Access, AccessKind, BlockSize, Flags, ReferenceFilter, Rng};
use homenode_trace::{AddressRange, Batch, Event, EventKind, Metadata, RangeKind};

const THREADS: u16 = 6;

fn batch(accesses: &[Access]) -> Batch {
    let mut batch = Batch::default();
    for access in accesses {
        batch.turns.push(access.thread);
        batch.kind.push(access.kind.code());
        batch.size.push(access.size);
        batch.addr.push(access.addr);
        batch.flags.push(access.flags.0);
    }
    batch
}

fn survey(accesses: &[Access]) -> UseSurvey {
    let mut surveyor = UseSurveyor::new(THREADS, ReferenceFilter::ALL);
    for some in accesses.chunks(37) {
        surveyor.push(&batch(some));
    }
    surveyor.finish()
}

fn thread(rng: &mut Rng) -> u16 {
    u16::try_from(rng.below(u64::from(THREADS))).expect("a thread")
}

/// Symbols, heap blocks of two sites and memory without a name; references as real programs make
/// them: bands, cyclic elements, structures, and at random.
fn program(seed: u64) -> (Metadata, Vec<Access>) {
    let mut rng = Rng::new(seed);
    let mut ranges = Vec::new();
    let mut next = 0x1_0000 + 4 * rng.below(64);
    for number in 0..8 {
        let size = 1 + rng.below(700);
        let kind = if number < 4 { RangeKind::Static } else { RangeKind::Heap };
        let site = if kind == RangeKind::Heap { 100 + number % 2 } else { 0 };
        let name = if kind == RangeKind::Static { format!("s{number}") } else { String::new() };
        ranges.push(AddressRange { site, ..AddressRange::new(kind, next, size, name) });
        next += size + rng.below(3) * 4;
    }
    let stride = 8 * (1 + rng.below(5));
    let way = rng.below(4);
    let mut accesses = Vec::new();
    for _ in 0..2000 {
        let addr = 0x1_0000 + rng.below(next + 256 - 0x1_0000);
        let by = match way {
            0 => addr / stride % u64::from(THREADS),
            1 => addr * u64::from(THREADS) / (next + 256),
            2 if addr % stride < 8 => addr / stride % u64::from(THREADS),
            _ => u64::from(thread(&mut rng)),
        };
        let by = u16::try_from(by % u64::from(THREADS)).expect("a thread");
        let write = rng.below(3) == 0;
        let kind = if write { AccessKind::Write } else { AccessKind::Read };
        let size = [1, 4, 8, 8, 24][usize::try_from(rng.below(5)).expect("an index")];
        let addr = addr & !7;
        // The last words of some structures are locks.
        let lock = addr % 64 == 56 && size <= 8;
        let flags = if lock { Flags::SYNC } else { Flags(0) };
        let kind = if lock { AccessKind::Atomic } else { kind };
        accesses.push(Access { flags, ..Access::new(by, kind, addr, size) });
    }
    (Metadata { ranges, ..Metadata::default() }, accesses)
}

#[test]
fn proposals_keep_every_word_once_and_values_whole() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut seen_in_bytes = BTreeMap::new();
    for seed in 0..120 {
        let (metadata, accesses) = program(seed);
        let survey = survey(&accesses);
        let names = Names::new(&metadata);
        let block = BlockSize::new(16 << (seed % 5)).expect("a size");
        let objects = data_objects(&names, &survey);
        for object in &objects {
            check_proposals(&Candidate::new(&survey, object, block, true), &mut seen);
        }
        let bytes: Vec<DataObject> = objects.iter().map(DataObject::in_bytes).collect();
        let extents = bytes.iter().flat_map(|object| &object.extents);
        let mut surveyor = survey.of_bytes(extents.flat_map(|extent| extent.range()));
        surveyor.push(&batch(&accesses));
        let survey = surveyor.finish();
        for object in &bytes {
            check_proposals(&Candidate::new(&survey, object, block, true), &mut seen_in_bytes);
        }
    }
    assert!(TABLE.iter().all(|entry| seen.contains_key(entry.name)), "{seen:?}");
    assert!(TABLE.iter().all(|entry| seen_in_bytes.contains_key(entry.name)), "{seen_in_bytes:?}");
}

/// Whatever is proposed for a candidate keeps its units, and its values whole.
fn check_proposals(candidate: &Candidate<'_>, seen: &mut BTreeMap<&str, usize>) {
    let (object, survey) = (candidate.object, candidate.survey);
    let unit = object.unit_bytes;
    for entry in TABLE {
        for proposal in (entry.propose)(candidate) {
            *seen.entry(entry.name).or_default() += 1;
            assert!(proposal.length % candidate.block.bytes() == 0, "whole blocks");
            let room = 1 << 40;
            let mut moves = proposal.moves.clone();
            moves.iter_mut().for_each(|moved| moved.to += room);
            let layout = Layout::new(moves);
            let mut places = BTreeSet::new();
            for number in object.extents.iter().flat_map(|extent| extent.range()) {
                let to = layout.address(number * unit);
                assert!((room..room + proposal.length).contains(&to), "{}", entry.name);
                assert!(places.insert(to), "{}: two words in one place", entry.name);
                let within = object.extents.iter().any(|e| e.range().contains(&(number + 1)));
                if survey.joined(number) && within {
                    assert_eq!(layout.address((number + 1) * unit), to + unit, "{}", entry.name);
                }
            }
            assert!(!proposal.text.sentence.is_empty());
        }
    }
}

#[test]
fn flags_of_one_byte_are_padded_each() {
    let flags = 0x1000;
    let mut accesses = vec![Access::new(0, AccessKind::Write, 0x9000, 4)];
    for round in 0..40 {
        let flag =
            |thread: u16| Access::new(thread, AccessKind::Write, flags + u64::from(thread), 1);
        accesses.extend((0..4).map(flag));
        accesses.push(Access::new(round % 4, AccessKind::Read, flags + 8, 4));
    }
    let words = survey(&accesses);
    assert_eq!(words.label(flags / 4), WordLabel::Shared);
    assert_eq!(words.words_used_in_parts().collect::<Vec<_>>(), [flags / 4]);
    let mut surveyor = words.of_bytes(flags..flags + 12);
    surveyor.push(&batch(&accesses));
    let bytes = surveyor.finish();
    assert_eq!(bytes.label(flags + 2), WordLabel::Own(2));
    assert!(bytes.is_divided(flags / 4) && !bytes.is_divided(flags / 4 + 2));
    let range = AddressRange::new(RangeKind::Static, flags, 4, "flags".to_owned());
    let metadata = Metadata { ranges: vec![range], ..Metadata::default() };
    let objects = data_objects(&Names::new(&metadata), &words);
    let object = objects.iter().find(|object| object.label() == "flags").unwrap().in_bytes();
    let block = BlockSize::new(64).unwrap();
    let pad = TABLE.iter().find(|entry| entry.name == "pad").unwrap();
    let found = (pad.propose)(&Candidate::new(&bytes, &object, block, false));
    let to: Vec<u64> = found[0].moves.iter().map(|moved| moved.to).collect();
    assert_eq!((&to[..], found[0].length, found[0].stride), (&[0, 64, 128, 192][..], 256, Some(1)));
    assert_eq!(
        found[0].text.sentence,
        "The 4 elements of `flags`, 1 byte each, belong to threads 0-3 and lie next to each other: \
         pad each element to 64 bytes."
    );
}

#[test]
fn the_fields_of_a_lock_belong_to_it() {
    let lock = 0x1000;
    let field = |addr, kind| Access { flags: Flags::SYNC, ..Access::new(0, kind, addr, 4) };
    let accesses = [
        field(lock, AccessKind::Atomic),
        field(lock + 8, AccessKind::Write),
        field(lock + 16, AccessKind::Read),
        Access::new(0, AccessKind::Write, lock + 40, 4),
        Access::new(0, AccessKind::Write, lock + 4, 4),
        // A flag that is stored with an order, as no lock is.
        field(lock + 128, AccessKind::Write),
    ];
    let mut batch = batch(&accesses);
    batch.events.push((1, Event { thread: 0, what: EventKind::LockAcquire { addr: lock } }));
    let mut surveyor = UseSurveyor::new(THREADS, ReferenceFilter::ALL);
    surveyor.push(&batch);
    let survey = surveyor.finish();
    let locks = accesses.map(|access| survey.locks(access.addr / BlockSize::WORD_BYTES));
    assert_eq!(locks, [true, true, true, false, false, false]);
    assert_eq!(survey.beginning(lock / BlockSize::WORD_BYTES + 4), lock / BlockSize::WORD_BYTES);
    // No layout cuts it, whatever wrote the word between: it was cleared as data.
    let first = lock / BlockSize::WORD_BYTES;
    let joined = [0, 1, 2, 3, 4, 5].map(|word| survey.joined(first + word));
    assert_eq!(joined, [true, true, true, true, false, false]);
}

/// The slow way: all references of a word in a list.
#[test]
fn labels_are_what_the_references_say() {
    for seed in 0..60 {
        let (_, accesses) = program(seed);
        let survey = survey(&accesses);
        // Up to the first reference of a second thread the first one runs alone.
        let alone_until = accesses.iter().position(|access| access.thread != accesses[0].thread);
        let mut of: BTreeMap<u64, Vec<(u16, bool)>> = BTreeMap::new();
        let mut alone: BTreeMap<u64, usize> = BTreeMap::new();
        for (at, access) in accesses.iter().enumerate() {
            let last = access.addr + u64::from(access.size) - 1;
            for word in access.addr / 4..=last / 4 {
                of.entry(word).or_default().push((access.thread, access.kind.writes()));
                if alone_until.is_none_or(|until| at < until) {
                    *alone.entry(word).or_default() += 1;
                }
            }
        }
        assert_eq!(survey.touched().collect::<Vec<_>>(), of.keys().copied().collect::<Vec<_>>());
        for (&word, list) in &of {
            let serial = alone.get(&word).copied().unwrap_or(0);
            assert_eq!(survey.references_to(word) as usize, list.len());
            let later = &list[serial..];
            if later.is_empty() {
                assert_eq!(survey.label(word), WordLabel::Untouched);
                assert!(survey.exclusive(word));
                continue;
            }
            let users: BTreeSet<u16> = later.iter().map(|&(who, _)| who).collect();
            let writes = later.iter().filter(|&&(_, write)| write).count();
            let written = writes > later.len() / 64;
            let label = survey.label(word);
            match label {
                WordLabel::Own(_) if users.len() == 1 => {
                    assert_eq!(label, WordLabel::Own(later[0].0));
                }
                WordLabel::Own(owner) => {
                    let own = later.iter().filter(|&&(who, _)| who == owner).count();
                    let writers = later.iter().filter(|&&(_, write)| write);
                    let alone = writers.clone().all(|&(who, _)| who == owner);
                    assert!(written && (2 * own >= later.len() || alone));
                }
                WordLabel::Read => assert!(!written && users.len() > 1),
                WordLabel::Shared => assert!(written && users.len() > 1),
                WordLabel::Untouched => panic!("the word is used"),
            }
            assert_eq!(survey.exclusive(word), users.len() == 1);
        }
    }
}

/// Each word belongs to one object, and every word that is used to one.
#[test]
fn objects_share_no_word() {
    for seed in 0..40 {
        let (metadata, accesses) = program(seed);
        let survey = survey(&accesses);
        let mut owned = BTreeSet::new();
        for object in data_objects(&Names::new(&metadata), &survey) {
            for word in object.extents.iter().flat_map(|extent| extent.range()) {
                assert!(owned.insert(word), "two objects have word {word:#x}");
            }
        }
        assert!(survey.touched().all(|word| owned.contains(&word)));
    }
}

/// Writes of one word each, by thread and address, while two threads run.
fn surveyed(writes: &[(u16, u64)]) -> UseSurvey {
    let both = [(0, 0x9000), (1, 0x9004)];
    let all = both.iter().chain(writes);
    let accesses: Vec<Access> =
        all.map(|&(thread, addr)| Access::new(thread, AccessKind::Write, addr, 4)).collect();
    survey(&accesses)
}

#[test]
fn what_one_thread_has_to_itself_is_not_contended() {
    // Two lines of a thread each, and one of both.
    let survey = surveyed(&[(0, 0x1000), (0, 0x1008), (1, 0x1040), (0, 0x1080), (1, 0x10bc)]);
    let line = |addr: u64| survey.is_contended(addr / 4..addr / 4 + 16);
    assert_eq!([0x1000, 0x1040, 0x1080, 0x10c0].map(line), [false, false, true, false]);
    let readers = [(0, 0x1000), (1, 0x1000)]
        .map(|(thread, addr)| Access::new(thread, AccessKind::Read, addr, 4));
    let survey = self::survey(&[&readers[..], &readers[..]].concat());
    assert!(!survey.is_contended(0x400..0x410), "no thread writes");
}

#[test]
fn a_survey_of_some_words_knows_of_them_what_one_of_all_knows() {
    let mut rng = Rng::new(5);
    let mut batch = Batch::default();
    for _ in 0..5000 {
        batch.turns.push(u16::try_from(rng.below(3)).unwrap());
        batch.kind.push(u8::try_from(rng.below(3)).unwrap());
        batch.size.push([4, 8, 16][usize::try_from(rng.below(3)).unwrap()]);
        batch.addr.push(4 * rng.below(400));
    }
    let surveyor = || UseSurveyor::new(3, ReferenceFilter::ALL);
    let chosen = [3, 40, 41, 390];
    let [all, some] = [surveyor(), surveyor().of_words(chosen)].map(|mut surveyor| {
        surveyor.push(&batch);
        surveyor.finish()
    });
    assert_eq!(some.references(), all.references());
    for word in chosen {
        let about = |survey: &UseSurvey| {
            (survey.label(word), survey.contended(word), survey.references_to(word))
        };
        assert_eq!(about(&some), about(&all));
        assert_eq!(some.joined(word), all.joined(word));
    }
    assert_eq!((some.references_to(200), all.references_to(200) > 0), (0, true));
}
