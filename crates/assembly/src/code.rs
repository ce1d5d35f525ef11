//! The instructions of an assembled file, by their labels.

use iced_x86::{Decoder, DecoderOptions, Instruction, InstructionInfo, InstructionInfoFactory};
use object::{Object, ObjectSection, ObjectSymbol};

use crate::{AssemblyError, LABEL};

/// One labelled instruction.
#[derive(Clone, Debug)]
pub(crate) struct Coded {
    pub(crate) instruction: Instruction,
    pub(crate) info: InstructionInfo,
    /// Whether it is a part of an earlier instruction: what follows a prefix on its own.
    pub(crate) within: bool,
}

/// All instructions, in the order of their labels.
pub(crate) struct Code {
    pub(crate) all: Vec<Coded>,
}

impl Code {
    /// Reads `count` instructions. With `conditions`, some may not have been assembled.
    pub(crate) fn read(
        object: &[u8],
        count: usize,
        conditions: bool,
    ) -> Result<Self, AssemblyError> {
        let failed = |error: object::Error| AssemblyError::Object(error.to_string());
        let file = object::File::parse(object).map_err(failed)?;
        let mut places = Vec::new();
        for symbol in file.symbols() {
            let Some(number) = symbol.name().ok().and_then(|name| name.strip_prefix(LABEL)) else {
                continue;
            };
            let number: usize =
                number.parse().map_err(|_| AssemblyError::Object(format!("label {number}")))?;
            let section = symbol.section_index();
            let section = section.ok_or_else(|| AssemblyError::Object("no section".to_owned()))?;
            places.push((number, section, symbol.address()));
        }
        places.sort_unstable_by_key(|place| place.0);
        let mut factory = InstructionInfoFactory::new();
        let none = Instruction::default();
        let absent = Coded { instruction: none, info: factory.info(&none).clone(), within: false };
        let mut all = Vec::with_capacity(count);
        let mut ends = std::collections::HashMap::new();
        for (number, section, address) in places {
            if number >= count || number != all.len() && !conditions {
                return Err(AssemblyError::Object(format!(
                    "label {number} in place of {} of {count}",
                    all.len()
                )));
            }
            all.resize(number, absent.clone());
            let section_data = file.section_by_index(section).map_err(failed)?;
            let data = section_data.data().map_err(failed)?;
            let rest = usize::try_from(address).ok().and_then(|start| data.get(start..));
            let rest =
                rest.ok_or_else(|| AssemblyError::Object("a label has no code".to_owned()))?;
            let mut decoder = Decoder::with_ip(64, rest, address, DecoderOptions::NONE);
            let instruction = decoder.decode();
            let end: &mut u64 = ends.entry(section).or_default();
            let within = address < *end;
            if !within {
                *end = instruction.next_ip();
            }
            let info = factory.info(&instruction).clone();
            all.push(Coded { instruction, info, within });
        }
        if all.len() != count && !conditions {
            return Err(AssemblyError::Object(format!("{} of {count} labels", all.len())));
        }
        all.resize(count, absent);
        Ok(Self { all })
    }
}
