//! A claimant: one of many processes that claim the same hand-off.

use std::time::{Duration, Instant};

use lcp_continuity::Timestamp;
use lcp_continuity::store::Store;

use super::super::protocol::Line;
use super::super::{content, failed};
use super::{Args, next_command};
use crate::Result;

/// Claims and resumes each hand-off that the parent names, at the time that it names.
pub(super) fn run(store: &dyn Store, args: &Args) -> Result {
    Line::Ready.say()?;
    while let Some(order) = next_command()? {
        let (at, handoff) = order.split_once(' ').ok_or_else(|| failed("no hand-off"))?;
        wait_until(Timestamp(at.parse().map_err(failed)?));
        let start = Instant::now();
        let new = content::conversation(&successor(handoff, &args.name));
        let resumed = store
            .claim(handoff, &args.name, args.lease())
            .and_then(|claim| store.resume(&claim, &new));
        match resumed {
            Ok(_) => Line::Done(start.elapsed()).say()?,
            Err(error) => Line::failed(start.elapsed(), &error).say()?,
        }
    }
    Ok(())
}

/// Returns the id of the conversation in which this claimant would continue.
pub(in super::super) fn successor(handoff: &str, claimant: &str) -> String {
    format!("{handoff} by {claimant}")
}

pub(super) fn wait_until(moment: Timestamp) {
    let millis = u64::try_from(moment.0.saturating_sub(Timestamp::now().0)).unwrap_or_default();
    std::thread::sleep(Duration::from_millis(millis));
}
