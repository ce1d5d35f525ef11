//! All blocks lie at one processor.

use homenode_base::ProcId;

use super::place::FixedPlace;
use super::{DefaultValue, Entry, ParamKind, Policy, PolicyParam, RunsOn};
use crate::history::Block;
use crate::tally::Tally;

/// Source: an example. It is what a program gets whose data are all in one memory.
pub const ENTRY: Entry = Entry {
    name: "one-home",
    summary: "every block stays at the same processor",
    source: "an example",
    params: &[PolicyParam {
        name: "home",
        kind: ParamKind::Count { min: 0 },
        default: DefaultValue::Fixed(0),
        unit: "",
        doc: "the processor, modulo their number",
    }],
    tested_with: &["home=1"],
    needs_global: false,
    needs_prices: false,
    assigns_homes: true,
    runs_on: RunsOn::Both,
    build: |setup, values| {
        let home = values.get(0) % u64::from(setup.processors);
        Ok(Box::new(OneHome { home: ProcId::try_from(home).unwrap_or(0) }))
    },
};

struct OneHome {
    home: ProcId,
}

impl Policy for OneHome {
    fn block(&mut self, block: Block<'_>, tally: &mut Tally) {
        FixedPlace::Processor(self.home).count_runs(block.runs, tally);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PolicySpec;

    #[test]
    fn the_home_is_a_parameter() {
        let spec = PolicySpec::parse("one-home:home=3", &[&[ENTRY]]).unwrap();
        assert_eq!(spec.text, "one-home:home=3");
    }
}
