//! Prices that users give in place of a machine: `prices:r=15,R=59,g=4,G=40`.

use super::file::Validity;
use super::{Charges, PRICES, PricedMachine};
use crate::decimal::Decimal;
use crate::error::MachineError;
use crate::file::Description;
use crate::linear::{Linear, Parameters};

impl PricedMachine {
    /// The machine with the prices of a list; `spec` is what the user wrote.
    pub(crate) fn from_price_list(spec: &str, list: &str) -> Result<Self, MachineError> {
        let fail = |problem: String| MachineError::PriceList { spec: spec.to_owned(), problem };
        let mut given: [Option<Option<Decimal>>; 4] = [None; 4];
        for item in list.split(',') {
            let Some((key, value)) = item.split_once('=') else {
                return Err(fail(format!("expected name=price, found {item:?}")));
            };
            let Some(i) = PRICES.iter().position(|&p| p == key) else {
                return Err(fail(format!("unknown price {key:?}, expected r, R, g or G")));
            };
            if given[i].is_some() {
                return Err(fail(format!("{key} is given twice")));
            }
            given[i] = Some(match value {
                "inf" => None,
                number => {
                    let parsed = Decimal::parse(number);
                    Some(parsed.map_err(|e| fail(format!("{key}={number}: {e}")))?)
                }
            });
        }
        for (pair, needed) in [([0, 1], true), ([2, 3], given[2].is_some() || given[3].is_some())] {
            if let Some(&i) = pair.iter().find(|&&i| needed && given[i].is_none()) {
                return Err(fail(format!("{} is missing", PRICES[i])));
            }
        }
        Ok(Self {
            description: Description {
                name: spec.to_owned(),
                summary: "prices given in place, the same at every block size".to_owned(),
                source: "the user".to_owned(),
            },
            block_size_bytes: None,
            processors: None,
            last_level: None,
            validity: Validity::Checked,
            unit: None,
            parameters: Parameters::new(),
            charges: Charges::Placement(given.map(|p| p.flatten().map(Linear::constant))),
        })
    }
}
