//! A lease holder that is suspended.

use std::time::Duration;

use lcp_continuity::store::Store;

use super::super::protocol::Line;
use super::super::{content, refused};
use super::{Args, next_command};
use crate::Result;

/// Writes once, and once more for every line of input, always with its first lease.
pub(super) fn run(store: &dyn Store, args: &Args) -> Result {
    let name = &args.name;
    store.begin(&content::conversation(name)).map_err(|error| refused(&error))?;
    let lease = store.lease(name, name, args.lease()).map_err(|error| refused(&error))?;
    let first = content::message(name, 0);
    store.append(&lease, &[first], None).map_err(|error| refused(&error))?;
    Line::Ready.say()?;
    while next_command()?.is_some() {
        let answers = [
            store.append(&lease, &[content::message(name, 1)], None).map(drop),
            store.commit(&lease, &content::handoff(name, 0)).map(drop),
            store.next_epoch(&lease, None).map(drop),
        ];
        for answer in answers {
            match answer {
                Ok(()) => Line::Done(Duration::ZERO).say()?,
                Err(error) => Line::failed(Duration::ZERO, &error).say()?,
            }
        }
    }
    Ok(())
}
