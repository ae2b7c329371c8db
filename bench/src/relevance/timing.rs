//! The time that a query adds to packing a folder.

use std::time::Duration;

use super::product::Lcp;
use super::repository::Checkout;
use crate::harness::{Contender, Progress, Result, race, wall_timed};
use crate::table::{Row, Wanted};

/// The least number of files of a tree that is measured.
pub(super) const FILES_MIN: usize = 600;

/// The most times as long that packing may take with a query: the first time, and once the index is
/// cached.
const FIRST_MAX: f64 = 1.5;
const SECOND_MAX: f64 = 1.1;

/// Compares packing for a query with packing alone, in wall time. The contenders take turns. `what`
/// describes the tree.
pub(super) fn rows(
    lcp: &Lcp,
    checkout: &Checkout,
    query: &str,
    what: &str,
    rounds: usize,
    progress: &mut Progress<'_>,
) -> Result<Vec<Row>> {
    progress(format!("{what} are packed with a query and without, {rounds} times"));
    let pack = |name: &str, query: Option<&str>, is_first: bool| -> Result<Duration> {
        let cache = lcp.cache(name);
        if is_first && cache.exists() {
            std::fs::remove_dir_all(&cache)?;
        }
        wall_timed(|| lcp.pack(checkout, &cache, query))
    };
    let contender = |name: &'static str, query: Option<&'_ str>, is_first: bool| {
        let query = query.map(str::to_owned);
        Contender::new(name, move || pack(name, query.as_deref(), is_first))
    };
    let mut contenders = [
        contender("first", None, true),
        contender("first-query", Some(query), true),
        contender("second", None, false),
        contender("second-query", Some(query), false),
    ];
    let times = race(&mut contenders, rounds, 1)?;
    let row = |when: &str, alone: usize, most: f64| {
        let (own, alone) = (times[alone + 1].median(), times[alone].median());
        Row::with_itself(format!("{what}, pack --query, {when}"), "ms", own, "pack alone", alone)
            .wants(Wanted::RatioAtMost(most))
    };
    Ok(vec![row("first time", 0, FIRST_MAX), row("second time", 2, SECOND_MAX)])
}
