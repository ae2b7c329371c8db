//! Sessions (RFC 0010 §7): recording, hand-off and resumption of conversations in a store.
//!
//! | topic | item |
//! |---|---|
//! | `session record`, `handoff` and `resume` for any program | [`Sessions`] |
//! | levels, warnings and history of the usage | [`UsageReport`] |
//! | compaction of sessions, packs and transcripts | [`CompactOptions`], [`compact_messages`] |
//! | location of the store | [`StoreLocation`] |
//! | options of hand-offs from flags and `lcp.toml` | [`HandoffSettings`], [`WindowOptions`] |
//! | records and checks of a store | [`find_record`], [`conversations`], [`check_store`] |
//! | messages of files | [`input`] |
//! | release of leases on interruption | `leases.rs` |

mod address;
mod check;
mod compaction;
mod conversation_status;
mod handoff_settings;
pub mod input;
mod leases;
mod record_json;
mod records;
mod service;
mod session_options;
mod store_location;
mod usage_report;
mod window;

pub use check::{StoreCheck, check_store};
pub use compaction::{CompactOptions, CompactionOutcome, compact_messages};
pub use conversation_status::{ConversationStatus, Verdict, in_line};
pub use handoff_settings::HandoffSettings;
pub use record_json::{
    ConversationDetails, MessageSummary, expired_json, handoff_record_json, store_json,
};
pub use records::{Record, conversations, expiry, find_record, for_each_message, holder};
pub use service::{
    HandoffCondition, HandoffOutcome, NewMessages, Sessions, reported_usage, resume_json,
    resume_text, warning_lines,
};
pub use session_options::SessionOptions;
pub use store_location::{StoreLocation, open_store, store_files};
pub use usage_report::UsageReport;
pub use window::{Window, WindowOptions};

use lcp_continuity::compact::CompactionError;
use lcp_continuity::store;

use crate::error::{Error, ErrorKind};

/// The code of the error that the store of a file does not exist.
pub const NO_STORE: &str = "no_store";

/// Converts an error of the store or the service, with its code.
pub fn failed(error: impl Into<lcp_continuity::Error>) -> Error {
    let error = error.into();
    let kind = match &error {
        lcp_continuity::Error::Store(store::Error::TooLarge { .. }) => ErrorKind::Limit,
        lcp_continuity::Error::Store(store::Error::BadId { .. })
        | lcp_continuity::Error::Compaction(CompactionError::Window(_))
        | lcp_continuity::Error::TargetTooSmall { .. } => ErrorKind::Usage,
        lcp_continuity::Error::Package(_) => ErrorKind::Malformed,
        _ => ErrorKind::Session,
    };
    let code = error.code();
    let failure = Error::new(kind, format!("{error} [{code}]")).with_code(code);
    match error {
        lcp_continuity::Error::Store(store::Error::UnknownConversation(_)) => {
            failure.with_hint("run `lcp session list` to list the sessions")
        }
        lcp_continuity::Error::Store(store::Error::UnknownHandoff(_)) => {
            failure.with_hint("run `lcp session show ID` to list the hand-offs of a session")
        }
        lcp_continuity::Error::Store(store::Error::AlreadyResumed { handoff, .. }) => failure
            .with_hint(format!(
                "to get the earlier result again, run `lcp session resume --repeat {}`",
                handoff.escape_debug()
            )),
        lcp_continuity::Error::Store(store::Error::Held { .. } | store::Error::Claimed { .. }) => {
            failure.with_hint("pass a longer --wait, or set `wait_seconds` of lcp.toml")
        }
        lcp_continuity::Error::TargetTooSmall { least, .. } => {
            failure.with_hint(format!("pass --target {least} or more"))
        }
        lcp_continuity::Error::Differs { conversation, position } => failure.with_hint(format!(
            "record it under another ID, or fork the session: lcp session fork \
             {conversation:?} --at {position} --as NEW"
        )),
        lcp_continuity::Error::Compaction(CompactionError::Futile { .. }) => {
            failure.with_hint("pass a larger --target-percent, or use a larger window")
        }
        _ => failure,
    }
}
