//! Page use by node, in columns.

use std::collections::BTreeMap;

use homenode_analysis::Names;
use homenode_directory::{HomeLoad, PageUsage};

use super::plan::PlannedDirectory;
use crate::page_use::PageUseColumns;

const WITHOUT_NAME: &str = "memory without a name";

#[derive(Default)]
struct ObjectNumbers {
    groups: BTreeMap<usize, u32>,
    labels: BTreeMap<String, u32>,
    objects: Vec<String>,
}

impl ObjectNumbers {
    /// The number of the first object with a byte from `first` to `last`. Objects with the same
    /// label are one.
    fn of(&mut self, names: &Names<'_>, first: u64, last: u64) -> u32 {
        let group = names.first_group(first, last);
        if let Some(&number) = self.groups.get(&group) {
            return number;
        }
        let label = names.object_of(group).label();
        let label = if label.is_empty() { WITHOUT_NAME.to_owned() } else { label };
        let next = u32::try_from(self.objects.len()).unwrap_or(u32::MAX);
        let number = *self.labels.entry(label.clone()).or_insert(next);
        if number == next {
            self.objects.push(label);
        }
        self.groups.insert(group, number);
        number
    }
}

impl PageUseColumns {
    pub(super) fn new(
        point: &PlannedDirectory,
        uses: &[PageUsage],
        loads: &[HomeLoad],
        names: &Names<'_>,
    ) -> Self {
        let setup = &point.setup;
        let mut columns = Self {
            page_bytes: setup.page_bytes,
            nodes: point.memories(),
            home_loads: loads.to_vec(),
            ..Self::default()
        };
        let mut sorted: Vec<&PageUsage> =
            uses.iter().filter(|page| !page.nodes.is_empty()).collect();
        sorted.sort_by_key(|page| page.page);
        let (mut numbers, mut served) = (ObjectNumbers::default(), BTreeMap::new());
        for page in sorted {
            let block = setup.cache.block_size_bytes;
            let objects = objects_of(page, setup.page_bytes, block, &mut numbers, names);
            columns.push_page(page, &objects);
            for (place, fills) in objects.into_iter().filter(|&(_, fills)| fills > 0) {
                *served.entry(place).or_insert(0) += fills;
            }
        }
        for ((home, object), fills) in served {
            columns.served_home.push(home);
            columns.served_object.push(object);
            columns.served_fills.push(fills);
        }
        columns.objects = numbers.objects;
        columns
    }

    fn push_page(&mut self, page: &PageUsage, objects: &BTreeMap<(u16, u32), u64>) {
        let mut fills_of: BTreeMap<u32, u64> = BTreeMap::new();
        for (&(_, object), fills) in objects {
            *fills_of.entry(object).or_insert(0) += fills;
        }
        // On a tie the first one, which has the lowest address.
        let most = fills_of.iter().rev().max_by_key(|&(_, fills)| fills);
        let place = u32::try_from(self.page_address.len()).unwrap_or(u32::MAX);
        self.page_address.push(page.page * self.page_bytes);
        self.page_home.push(page.home);
        self.page_object.push(most.map_or(0, |(&object, _)| object));
        for node in &page.nodes {
            self.use_page.push(place);
            self.use_node.push(node.node);
            self.use_fills.push(node.fills);
            self.use_write_backs.push(node.write_backs);
        }
    }
}

fn objects_of(
    page: &PageUsage,
    page_bytes: u64,
    block_bytes: u64,
    numbers: &mut ObjectNumbers,
    names: &Names<'_>,
) -> BTreeMap<(u16, u32), u64> {
    let mut found = BTreeMap::new();
    let start = page.page * page_bytes;
    // A page that is only written back has an object as well.
    if page.served.is_empty() {
        let object = numbers.of(names, start, start + (page_bytes - 1));
        found.insert((page.home, object), 0);
    }
    for served in &page.served {
        for (place, &fills) in (0u64..).zip(&served.fills).filter(|&(_, &fills)| fills > 0) {
            let first = start + place * block_bytes;
            let object = numbers.of(names, first, first + (block_bytes - 1));
            *found.entry((served.home, object)).or_insert(0) += fills;
        }
    }
    found
}
