//! The command `session list`: prints a line for each session.

use lcp_continuity::Timestamp;
use lcp_continuity::store::{ConversationRecord, Store};
use lcp_driver::group_thousands;

use crate::table::{self, Column, TableStyle};
use crate::{Result, files};
use lcp_app::config::Config;
use lcp_app::sessions::{conversations, expiry, holder, store_json};

const COLUMNS: [Column; 8] = [
    Column::Left("session"),
    Column::Right("messages"),
    Column::Right("tokens"),
    Column::Right("window"),
    Column::Right("epoch"),
    Column::Left("updated"),
    Column::Left("expires"),
    Column::Left("state"),
];

pub(super) fn run(config: &Config, store: &dyn Store, as_json: bool) -> Result {
    let records = conversations(store)?;
    let text =
        if as_json { files::json(&store_json(&records, config)) } else { table(&records, config) };
    files::print(&text)
}

fn table(records: &[ConversationRecord], config: &Config) -> String {
    let rows: Vec<_> = records.iter().map(|record| row(record, config)).collect();
    table::render(&COLUMNS, &rows, TableStyle::default())
}

fn row(record: &ConversationRecord, config: &Config) -> Vec<String> {
    let tokens = record.usage().map(|usage| group_thousands(usage.total_tokens.into()));
    vec![
        record.id.escape_debug().to_string(),
        group_thousands(record.messages),
        tokens.unwrap_or_else(|| "-".to_owned()),
        group_thousands(record.window_tokens.into()),
        record.epoch.to_string(),
        second(record.last_active),
        second(expiry(record, config)),
        state(record),
    ]
}

/// Formats a time without its milliseconds.
pub(super) fn second(moment: Timestamp) -> String {
    let text = moment.to_string();
    text.split_once('.').map_or_else(|| text.clone(), |(second, _)| format!("{second}Z"))
}

/// Returns the state of a session: `open`, `held by …` or `continued as …`.
pub(super) fn state(record: &ConversationRecord) -> String {
    if let Some(into) = &record.continued_as {
        return format!("continued as {}", into.escape_debug());
    }
    match holder(record) {
        Some((holder, _)) => format!("held by {}", holder.escape_debug()),
        None => "open".to_owned(),
    }
}
