//! The notation of protocols: `mesi`, `pscr:private_kernel=yes`.

use std::ops::RangeInclusive;

use serde::Serialize;

/// Why the text of a protocol, or of another choice with a name and parameters, is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// No such name.
    #[error("unknown {what} {name:?}: expected one of {known}")]
    Unknown {
        /// The kind of thing that was named.
        what: &'static str,
        /// The name.
        name: String,
        /// The known names.
        known: String,
    },
    /// An unknown parameter, or an invalid value.
    #[error("{what} {spec:?}: {problem}")]
    Parameter {
        /// The kind of thing: a protocol, a home.
        what: &'static str,
        /// Its text.
        spec: String,
        /// The problem, and what is expected.
        problem: String,
    },
}

/// A parameter of a protocol, set after the colon. The names of the fields are public: lists show
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ProtocolParameter {
    /// Name before the equals sign.
    pub name: &'static str,
    /// Valid values, after the equals sign.
    pub values: ValueRange,
    /// What it does.
    pub doc: &'static str,
}

/// Values that a parameter may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub enum ValueRange {
    /// `yes` and `no`, which are 1 and 0; off by default.
    Switch,
    /// A number, both ends included.
    Number {
        /// The lowest.
        from: u64,
        /// The highest.
        to: u64,
    },
    /// `yes` and `no`, which are 1 and 0, or a name with a size, which is the number: as in
    /// `separate:bytes=4096`.
    SwitchOrSize {
        /// The name.
        name: &'static str,
        /// The unit of the size.
        unit: &'static str,
        /// The least size, above 1.
        from: u64,
        /// The largest.
        to: u64,
    },
}

impl From<ValueRange> for String {
    /// The values in words.
    fn from(values: ValueRange) -> Self {
        match values {
            ValueRange::Switch => "yes or no".to_owned(),
            ValueRange::Number { from, to } => format!("{from} to {to}"),
            ValueRange::SwitchOrSize { name, unit, from, to } => {
                format!("yes, no or {name}:{unit}={from} to {to}")
            }
        }
    }
}

impl ValueRange {
    /// The value that a text means, or what is expected instead.
    fn read(self, text: &str) -> Result<u64, String> {
        match (self, text) {
            (Self::Switch | Self::SwitchOrSize { .. }, "yes") => Ok(1),
            (Self::Switch | Self::SwitchOrSize { .. }, "no") => Ok(0),
            (Self::Switch, _) => Err("yes or no".to_owned()),
            (Self::Number { from, to }, _) => {
                number(text, from..=to).ok_or_else(|| format!("a number from {from} to {to}"))
            }
            (Self::SwitchOrSize { name, unit, from, to }, _) => {
                let size = text.strip_prefix(name).and_then(|rest| rest.strip_prefix(':'));
                let size = size.and_then(|rest| rest.strip_prefix(unit)?.strip_prefix('='));
                let size = size.and_then(|size| number(size, from..=to));
                size.ok_or_else(|| format!("yes, no or {name}:{unit}=N, N from {from} to {to}"))
            }
        }
    }
}

fn number(text: &str, range: RangeInclusive<u64>) -> Option<u64> {
    text.parse().ok().filter(|number| range.contains(number))
}

/// A protocol in a list of protocols, or another choice with a name and parameters.
pub trait ListedProtocol: 'static {
    /// The kind of thing, for messages.
    const WHAT: &'static str = "protocol";

    /// Name on the command line, and what can be set.
    fn listing(&self) -> (&'static str, &'static [ProtocolParameter]);
}

/// A protocol of a list, and the values that were given to its parameters.
#[derive(Clone, Debug)]
pub struct ProtocolSetting<P: 'static> {
    /// The protocol.
    pub protocol: &'static P,
    values: Vec<(&'static str, u64)>,
}

impl<P: ListedProtocol> ProtocolSetting<P> {
    /// Parses a user's text: a name of the list, and parameters after a colon.
    ///
    /// # Errors
    /// When a name, a parameter or its value is unknown.
    pub fn parse(text: &str, list: &'static [P]) -> Result<Self, ProtocolError> {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        let protocol =
            list.iter().find(|protocol| protocol.listing().0 == name).ok_or_else(|| {
                let known: Vec<&str> = list.iter().map(|protocol| protocol.listing().0).collect();
                ProtocolError::Unknown {
                    what: P::WHAT,
                    name: name.to_owned(),
                    known: known.join(", "),
                }
            })?;
        let mut setting = Self { protocol, values: Vec::new() };
        for item in parameters.split(',').filter(|_| text.contains(':')) {
            setting.set(item).map_err(|problem| ProtocolError::Parameter {
                what: P::WHAT,
                spec: text.to_owned(),
                problem,
            })?;
        }
        Ok(setting)
    }

    /// Parses `key=value`. The error describes the problem.
    fn set(&mut self, item: &str) -> Result<(), String> {
        let (_, parameters) = self.protocol.listing();
        let Some((key, value)) = item.split_once('=') else {
            let switches = parameters.iter().all(|p| p.values == ValueRange::Switch);
            let expected = if switches { "parameter=yes or =no" } else { "parameter=value" };
            return Err(format!("expected {expected}, found {item:?}"));
        };
        let Some(parameter) = parameters.iter().find(|p| p.name == key) else {
            let known: Vec<&str> = parameters.iter().map(|p| p.name).collect();
            let known = if known.is_empty() { "no parameter".into() } else { known.join(", ") };
            return Err(format!("it has {known}, found {key:?}"));
        };
        if self.value(key).is_some() {
            return Err(format!("{key} is given twice"));
        }
        let read = parameter.values.read(value);
        let value = read.map_err(|expected| format!("{key} is {expected}, found {value:?}"))?;
        self.values.push((parameter.name, value));
        Ok(())
    }

    /// The value of a parameter, if it was set.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<u64> {
        self.values.iter().find(|(key, _)| *key == name).map(|&(_, value)| value)
    }

    /// Whether a switch is on.
    #[must_use]
    pub fn is_on(&self, name: &str) -> bool {
        self.value(name) == Some(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Listed(&'static str, &'static [ProtocolParameter]);

    impl ListedProtocol for Listed {
        fn listing(&self) -> (&'static str, &'static [ProtocolParameter]) {
            (self.0, self.1)
        }
    }

    const POINTERS: ValueRange = ValueRange::Number { from: 1, to: 8 };
    const KEEP: ValueRange =
        ValueRange::SwitchOrSize { name: "apart", unit: "bytes", from: 16, to: 64 };
    const LIST: &[Listed] = &[
        Listed("plain", &[]),
        Listed(
            "limited",
            &[
                ProtocolParameter { name: "pointers", doc: "sharers listed", values: POINTERS },
                ProtocolParameter { name: "fair", doc: "in order", values: ValueRange::Switch },
                ProtocolParameter { name: "keep", doc: "where copies are kept", values: KEEP },
            ],
        ),
    ];

    fn problem(text: &str) -> String {
        ProtocolSetting::parse(text, LIST).unwrap_err().to_string()
    }

    #[test]
    fn switches_and_numbers_are_read() {
        let setting = ProtocolSetting::parse("limited:pointers=4,fair=yes", LIST).unwrap();
        assert_eq!((setting.value("pointers"), setting.is_on("fair")), (Some(4), true));
        let setting = ProtocolSetting::parse("limited:fair=no", LIST).unwrap();
        assert_eq!((setting.value("pointers"), setting.is_on("fair")), (None, false));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_is_expected() {
        assert_eq!(problem("other"), "unknown protocol \"other\": expected one of plain, limited");
        for (text, expected) in [
            ("plain:fair=yes", "it has no parameter, found \"fair\""),
            ("plain:", "expected parameter=yes or =no, found \"\""),
            ("limited:fair", "expected parameter=value, found \"fair\""),
            ("limited:fair=1", "fair is yes or no, found \"1\""),
            ("limited:pointers=9", "pointers is a number from 1 to 8, found \"9\""),
            ("limited:fair=no,fair=no", "fair is given twice"),
            ("limited:keep=2", "keep is yes, no or apart:bytes=N, N from 16 to 64, found \"2\""),
        ] {
            assert_eq!(problem(text), format!("protocol {text:?}: {expected}"));
        }
    }

    #[test]
    fn a_switch_may_have_a_size_instead() {
        let keep = |text: &str| {
            let text = format!("limited:keep={text},fair=yes");
            ProtocolSetting::parse(&text, LIST).ok().and_then(|setting| setting.value("keep"))
        };
        let found = ["yes", "no", "apart:bytes=16", "apart:bytes=64"].map(keep);
        assert_eq!(found, [Some(1), Some(0), Some(16), Some(64)]);
        for wrong in
            ["apart", "apart:bytes", "apart:bytes=", "apart:bytes=65", "apart:16", "bytes=16"]
        {
            assert_eq!(keep(wrong), None, "{wrong}");
        }
    }
}
