//! `session check`: everything that is kept is read.

use lcp_continuity::store::Store;

use crate::{Result, files};
use lcp_app::sessions::{StoreCheck, check_store};
use lcp_app::{Error, ErrorKind};

pub(super) fn run(store: &dyn Store, as_json: bool) -> Result {
    let checked = check_store(store)?;
    let StoreCheck { conversations, messages, handoffs, problems } = &checked;
    let text = if as_json {
        files::json(&checked.to_json())
    } else {
        let mut lines: Vec<_> = problems.iter().map(|it| it.escape_debug().to_string()).collect();
        let count = problems.len();
        lines.push(format!(
            "{conversations} conversations, {messages} messages, {handoffs} hand-offs: {count} \
             problems\n"
        ));
        lines.join("\n")
    };
    files::print(&text)?;
    if problems.is_empty() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Io, "the store is damaged [damaged]")
        .with_hint("restore it, or go on in a new one: the rest of it can be read"))
}
