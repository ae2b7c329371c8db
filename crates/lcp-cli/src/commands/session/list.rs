//! `session list`: a line for each conversation.

use lcp_continuity::Timestamp;
use lcp_continuity::store::{ConversationRecord, Store};
use lcp_driver::group_thousands;
use serde_json::{Value, json};

use crate::table::{self, Column, TableStyle};
use crate::{Result, files};
use lcp_app::config::Config;
use lcp_app::sessions::{conversations, expiry, holder};

const COLUMNS: [Column; 8] = [
    Column::Left("conversation"),
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
    let text = if as_json {
        let conversations: Vec<_> = records.iter().map(|it| facts(it, config)).collect();
        let json = json!({ "schema": "lcp.store.v1", "conversations": conversations });
        files::json(&json)
    } else {
        table(&records, config)
    };
    files::print(&text)
}

/// What is known of a conversation, for programs.
pub(super) fn facts(record: &ConversationRecord, config: &Config) -> Value {
    let parent = record.parent.as_ref();
    json!({
        "id": record.id,
        "messages": record.messages,
        "tokens": record.usage().map(|usage| usage.total_tokens),
        "window": record.window_tokens,
        "output_reserve": record.output_reserve_tokens,
        "epoch": record.epoch,
        "created": record.created.to_string(),
        "updated": record.last_active.to_string(),
        "expires": expiry(record, config).to_string(),
        "parent": parent.map(|it| json!({ "id": it.conversation, "messages": it.messages })),
        "origin": record.origin,
        "continued_as": record.continued_as,
        "holder": holder(record).map(|(holder, until)| {
            json!({ "name": holder, "until": until.to_string() })
        }),
    })
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

/// A moment without its milliseconds.
pub(super) fn second(moment: Timestamp) -> String {
    let text = moment.to_string();
    text.split_once('.').map_or_else(|| text.clone(), |(second, _)| format!("{second}Z"))
}

/// What becomes of it.
pub(super) fn state(record: &ConversationRecord) -> String {
    if let Some(into) = &record.continued_as {
        return format!("goes on as {}", into.escape_debug());
    }
    match holder(record) {
        Some((holder, _)) => format!("held by {}", holder.escape_debug()),
        None => "open".to_owned(),
    }
}
