//! The instructions of an assembled file, by their labels.

use std::collections::HashMap;

use iced_x86::{
    Decoder, DecoderOptions, Instruction, InstructionInfoFactory, InstructionInfoOptions, OpAccess,
    OpKind,
};
use object::{Object, ObjectSection, ObjectSymbol, SectionIndex};

use crate::statement::Piece;
use crate::uses::Uses;
use crate::{AssemblyError, END, LABEL};

/// One labelled instruction. What stands for several, or was not assembled, is invalid.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Coded {
    pub(crate) instruction: Instruction,
    /// How the instruction accesses the memory that its operand names, if one does.
    pub(crate) access: OpAccess,
    /// Whether it is a part of an earlier instruction: what follows a prefix on its own.
    pub(crate) within: bool,
    /// Of a macro or repetition, how many of its instructions access memory.
    pub(crate) accesses: u32,
}

/// Where a label is.
struct LabelPlace {
    number: usize,
    /// Whether it is the end of a macro or repetition.
    is_end: bool,
    section: SectionIndex,
    address: u64,
}

/// All instructions, in the order of their labels.
pub(crate) struct Code {
    pub(crate) all: Vec<Coded>,
    pub(crate) uses: Uses,
}

impl Code {
    /// Reads the code of `pieces`. With `conditions`, some may not have been assembled.
    pub(crate) fn read(
        object: &[u8],
        pieces: &[Piece<'_>],
        conditions: bool,
    ) -> Result<Self, AssemblyError> {
        let count = pieces.iter().filter(|piece| piece.is_code()).count();
        let file = object::File::parse(object).map_err(unreadable)?;
        let mut places = places(&file)?;
        places.sort_unstable_by_key(|place| (place.number, place.is_end));
        let mut reader = CodeReader::of(&file);
        let mut all: Vec<Coded> = Vec::with_capacity(count);
        let mut ends: HashMap<SectionIndex, u64> = HashMap::new();
        for (at, place) in places.iter().enumerate() {
            if place.is_end {
                continue;
            }
            if place.number >= count || place.number != all.len() && !conditions {
                return Err(AssemblyError::Object(format!(
                    "label {} in place of {} of {count}",
                    place.number,
                    all.len()
                )));
            }
            all.resize(place.number, Coded::default());
            if let Some(end) = places.get(at + 1).filter(|next| next.is_end) {
                all.push(reader.several(place, end)?);
                continue;
            }
            let mut coded = reader.single(place)?;
            let end = ends.entry(place.section).or_default();
            coded.within = place.address < *end;
            if !coded.within {
                *end = coded.instruction.next_ip();
            }
            all.push(coded);
        }
        if all.len() != count && !conditions {
            return Err(AssemblyError::Object(format!("{} of {count} labels", all.len())));
        }
        all.resize(count, Coded::default());
        Ok(Self { all, uses: reader.uses })
    }
}

fn unreadable(error: object::Error) -> AssemblyError {
    AssemblyError::Object(error.to_string())
}

fn places(file: &object::File<'_>) -> Result<Vec<LabelPlace>, AssemblyError> {
    let mut found = Vec::new();
    for symbol in file.symbols() {
        let Some(text) = symbol.name().ok().and_then(|name| name.strip_prefix(LABEL)) else {
            continue;
        };
        let digits = text.strip_suffix(END);
        let number = digits.unwrap_or(text).parse();
        let number = number.map_err(|_| AssemblyError::Object(format!("label {text}")))?;
        let section = symbol.section_index();
        let section = section.ok_or_else(|| AssemblyError::Object("no section".to_owned()))?;
        found.push(LabelPlace {
            number,
            is_end: digits.is_some(),
            section,
            address: symbol.address(),
        });
    }
    Ok(found)
}

struct CodeReader<'a> {
    file: &'a object::File<'a>,
    factory: InstructionInfoFactory,
    /// Of all that has been read.
    uses: Uses,
}

impl<'a> CodeReader<'a> {
    fn of(file: &'a object::File<'a>) -> Self {
        let mut uses = Uses::default();
        let undefined = file.symbols().filter(ObjectSymbol::is_undefined);
        undefined.for_each(|symbol| uses.add_function(symbol.name().unwrap_or("")));
        Self { file, factory: InstructionInfoFactory::new(), uses }
    }

    fn decoder(&self, place: &LabelPlace) -> Result<Decoder<'a>, AssemblyError> {
        let section = self.file.section_by_index(place.section).map_err(unreadable)?;
        let data = section.data().map_err(unreadable)?;
        let rest = usize::try_from(place.address).ok().and_then(|start| data.get(start..));
        let rest = rest.ok_or_else(|| AssemblyError::Object("a label has no code".to_owned()))?;
        Ok(Decoder::with_ip(64, rest, place.address, DecoderOptions::NONE))
    }

    fn coded(&mut self, instruction: Instruction) -> Coded {
        self.uses.add(&instruction);
        let options =
            InstructionInfoOptions::NO_MEMORY_USAGE | InstructionInfoOptions::NO_REGISTER_USAGE;
        let operand = (0..instruction.op_count())
            .find(|&operand| instruction.op_kind(operand) == OpKind::Memory);
        let info = self.factory.info_options(&instruction, options);
        let access = operand.map_or(OpAccess::None, |operand| info.op_access(operand));
        Coded { instruction, access, within: false, accesses: 0 }
    }

    fn single(&mut self, place: &LabelPlace) -> Result<Coded, AssemblyError> {
        let instruction = self.decoder(place)?.decode();
        Ok(self.coded(instruction))
    }

    /// What stands for the instructions between two labels.
    fn several(&mut self, start: &LabelPlace, end: &LabelPlace) -> Result<Coded, AssemblyError> {
        let mut all = Coded::default();
        if start.section != end.section {
            return Ok(all);
        }
        let mut decoder = self.decoder(start)?;
        while decoder.ip() < end.address && decoder.can_decode() {
            let instruction = decoder.decode();
            all.accesses += u32::from(self.coded(instruction).accesses_data());
        }
        Ok(all)
    }
}

impl Coded {
    /// Whether it accesses memory that may be the program's.
    pub(crate) fn accesses_data(&self) -> bool {
        !is_no_access(&self.instruction)
            && (!matches!(self.access, OpAccess::None | OpAccess::NoMemAccess)
                || self.accesses_implicitly())
    }

    /// Whether it accesses memory that no operand in brackets names.
    pub(crate) fn accesses_implicitly(&self) -> bool {
        let instruction = &self.instruction;
        instruction.is_string_instruction()
            || (0..instruction.op_count()).any(|operand| {
                matches!(
                    instruction.op_kind(operand),
                    OpKind::MemorySegDI
                        | OpKind::MemorySegEDI
                        | OpKind::MemorySegRDI
                        | OpKind::MemoryESDI
                        | OpKind::MemoryESEDI
                        | OpKind::MemoryESRDI
                        | OpKind::MemorySegSI
                        | OpKind::MemorySegESI
                        | OpKind::MemorySegRSI
                )
            })
    }
}

/// Instructions that name memory without a reference of the program.
fn is_no_access(instruction: &Instruction) -> bool {
    use iced_x86::Mnemonic;
    matches!(
        instruction.mnemonic(),
        Mnemonic::Clflush
            | Mnemonic::Clflushopt
            | Mnemonic::Clwb
            | Mnemonic::Nop
            | Mnemonic::Lea
            | Mnemonic::Invlpg
    )
}
