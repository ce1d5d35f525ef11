//! Fields of types.

use homenode_base::BlockSize;
use homenode_trace::TypeLayout;

pub(crate) fn field_at(layout: &TypeLayout, offset: u64) -> Option<usize> {
    let has = |byte: u64| {
        layout.fields.iter().position(|field| {
            let Some(within) = byte.checked_sub(field.offset) else { return false };
            let stride = u64::from(field.stride);
            let within = if field.count > 1 && stride > 0 && within / stride < field.count.into() {
                within % stride
            } else {
                within
            };
            within < field.size
        })
    };
    (offset..offset.saturating_add(BlockSize::WORD_BYTES)).find_map(has)
}

#[cfg(test)]
mod tests {
    use homenode_trace::TypeField;

    use super::*;

    /// `struct { char tag; struct { int first; int second; } pair[2]; long sum; }`
    #[test]
    fn fields_of_arrays_repeat() {
        let field = |offset, size, name: &str, count| TypeField {
            offset,
            size,
            name: name.to_owned(),
            count,
            stride: if count > 0 { 8 } else { 0 },
        };
        let layout = TypeLayout {
            name: "cell".to_owned(),
            size: 32,
            fields: vec![
                field(0, 1, "tag", 0),
                field(4, 4, "pair[].first", 2),
                field(8, 4, "pair[].second", 2),
                field(24, 8, "sum", 0),
            ],
        };
        let name = |offset| field_at(&layout, offset).map(|at| layout.fields[at].name.as_str());
        let (first, second) = (Some("pair[].first"), Some("pair[].second"));
        assert_eq!(
            [0, 4, 8, 12, 16, 19].map(name),
            [Some("tag"), first, second, first, second, second]
        );
        assert_eq!([24, 28, 31].map(name), [Some("sum"); 3]);
        assert_eq!(name(20), None, "padding");
        assert_eq!(name(32), None);
        assert_eq!(name(2), first, "begins within the word");
    }
}
