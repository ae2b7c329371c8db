//! The command `session check`: reads the whole store and verifies its hashes.

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
            "{}, {}, {}: {}\n",
            lcp_driver::plural(*conversations, "session"),
            lcp_driver::plural(*messages, "message"),
            lcp_driver::plural(*handoffs, "hand-off"),
            lcp_driver::plural(count, "problem"),
        ));
        lines.join("\n")
    };
    files::print(&text)?;
    if problems.is_empty() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Io, "the store is damaged [damaged]")
        .with_hint("restore it from a backup, or use a new store; intact data is still readable"))
}
