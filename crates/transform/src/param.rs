//! Parameters of transforms.

/// A parameter of a transform.
#[derive(Clone, Copy, Debug)]
pub struct TransformParam {
    /// Name, on the command line after two dashes.
    pub name: &'static str,
    /// Its default value; empty if it has none.
    pub default: &'static str,
    /// Form of a value.
    pub form: &'static str,
    /// What it does.
    pub doc: &'static str,
}

/// The parameter that seeds the random generator.
pub(crate) const SEED: TransformParam = TransformParam {
    name: "seed",
    default: "0",
    form: "N",
    doc: "seed of the random generator: the same seed gives the same trace",
};
