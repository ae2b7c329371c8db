//! `[context.values]`: what details are worth under the objective `value` (RFC
//! 0005 §2).

use std::ops::RangeInclusive;

use lcp_driver::ValueModel;

use super::reader::{Located, Result, Section};
use super::settings::Setting;

/// An entry of the table: its key, its range, where it goes.
struct Entry {
    key: &'static str,
    range: RangeInclusive<u32>,
    of: fn(&mut ValueModel) -> &mut u32,
}

impl Entry {
    const fn new(
        key: &'static str,
        range: RangeInclusive<u32>,
        of: fn(&mut ValueModel) -> &mut u32,
    ) -> Self {
        Self { key, range, of }
    }
}

const SECTION: &str = "values";

/// What all keys begin with.
const ABOVE: &str = "context.values.";

const WEIGHT: RangeInclusive<u32> = 0..=ValueModel::WEIGHT_MAX;

/// What is conveyed is in thousandths of the whole.
const CONVEYED: RangeInclusive<u32> = 0..=1_000;

/// So are factors, and no rank makes a block worth less.
const FACTOR: RangeInclusive<u32> = 1_000..=ValueModel::HIGHEST_RANK_MAX;

const ENTRIES: [Entry; 10] = [
    Entry::new("context.values.high", WEIGHT, |values| &mut values.high),
    Entry::new("context.values.normal", WEIGHT, |values| &mut values.normal),
    Entry::new("context.values.low", WEIGHT, |values| &mut values.low),
    Entry::new("context.values.background", WEIGHT, |values| &mut values.background),
    Entry::new("context.values.full", CONVEYED, |values| &mut values.full),
    Entry::new("context.values.detailed", CONVEYED, |values| &mut values.detailed),
    Entry::new("context.values.summary", CONVEYED, |values| &mut values.summary),
    Entry::new("context.values.tags", CONVEYED, |values| &mut values.tags),
    Entry::new("context.values.placeholder", CONVEYED, |values| &mut values.placeholder),
    Entry::new("context.values.highest_rank", FACTOR, |values| &mut values.highest_rank),
];

/// What the file says of values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueTable {
    /// The entries that it has, with their keys.
    given: Vec<(&'static str, Located<u32>)>,
}

impl ValueTable {
    pub(super) fn read(context: &mut Section<'_>) -> Result<Self> {
        let Some(mut section) = context.section(SECTION)? else { return Ok(Self::default()) };
        let mut given = Vec::new();
        for Entry { key, range, .. } in ENTRIES {
            let found = section.integer_in(key.trim_start_matches(ABOVE), range)?;
            given.extend(found.map(|found| (key, found)));
        }
        section.finish()?;
        Ok(Self { given })
    }

    /// The table, by default where the file says nothing.
    pub fn values(&self) -> ValueModel {
        let mut values = ValueModel::default();
        for entry in &ENTRIES {
            if let Some(found) = self.get(entry.key) {
                *(entry.of)(&mut values) = found.value;
            }
        }
        values
    }

    /// Every entry, and who said it.
    pub fn settings(&self) -> Vec<(&'static str, Setting<u32>)> {
        let mut default = ValueModel::default();
        let setting = |entry: &Entry| {
            let default = *(entry.of)(&mut default);
            (entry.key, Setting::or(self.get(entry.key), default))
        };
        ENTRIES.iter().map(setting).collect()
    }

    /// The entries that the file has, with their keys.
    pub(super) fn given(&self) -> &[(&'static str, Located<u32>)] {
        &self.given
    }

    fn get(&self, key: &str) -> Option<&Located<u32>> {
        self.given.iter().find(|(given, _)| *given == key).map(|(_, found)| found)
    }
}
