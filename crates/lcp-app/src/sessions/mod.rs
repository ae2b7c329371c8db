//! Sessions (RFC 0010 §7): conversations in a store, recorded, handed over, resumed.
//!
//! | look for | in |
//! |---|---|
//! | what `session record`, `handoff` and `resume` do, for any program | [`Sessions`] |
//! | where sessions are kept | [`StoreLocation`] |
//! | how hand-offs are made, by flags and `lcp.toml` | [`HandoffSettings`], [`WindowOptions`] |
//! | records of a store, and its check | [`find_record`], [`conversations`], [`check_store`] |
//! | messages of files | [`input`] |
//! | what is given back when the process is interrupted | `leases.rs` |

mod address;
mod check;
mod conversation_status;
mod handoff_settings;
pub mod input;
mod leases;
mod record_json;
mod records;
mod service;
mod session_options;
mod store_location;
mod window;

pub use check::{StoreCheck, check_store};
pub use conversation_status::{ConversationStatus, Verdict};
pub use handoff_settings::HandoffSettings;
pub use record_json::{
    ConversationDetails, MessageSummary, expired_json, handoff_record_json, store_json,
};
pub use records::{Record, conversations, expiry, find_record, for_each_message, holder};
pub use service::{
    HandoffCondition, HandoffOutcome, NewMessages, Sessions, reported_usage, resume_json,
    resume_text,
};
pub use session_options::SessionOptions;
pub use store_location::{StoreLocation, open_store, store_files};
pub use window::{Window, WindowOptions};

use lcp_continuity::store;

use crate::error::{Error, ErrorKind};

/// Converts an error of the store or the service, with its code.
pub fn failed(error: impl Into<lcp_continuity::Error>) -> Error {
    let error = error.into();
    let kind = match &error {
        lcp_continuity::Error::Store(store::Error::TooLarge { .. }) => ErrorKind::Limit,
        lcp_continuity::Error::Store(store::Error::BadId { .. }) => ErrorKind::Usage,
        lcp_continuity::Error::Package(_) => ErrorKind::Malformed,
        _ => ErrorKind::Session,
    };
    let code = error.code();
    let failure = Error::new(kind, format!("{error} [{code}]")).with_code(code);
    match error {
        lcp_continuity::Error::Store(store::Error::UnknownConversation(_)) => {
            failure.with_hint("`lcp session list` tells those that there are")
        }
        lcp_continuity::Error::Store(store::Error::UnknownHandoff(_)) => {
            failure.with_hint("`lcp session show ID` tells the hand-offs of a conversation")
        }
        lcp_continuity::Error::Store(store::Error::AlreadyResumed { handoff, .. }) => failure.with_hint(format!(
            "if it was you, `lcp session resume --repeat {}`, or `again` of the tool `resume`, gives once \
             more what that gave",
            handoff.escape_debug()
        )),
        lcp_continuity::Error::Differs { conversation, position } => failure.with_hint(format!(
            "record it under another id, or go on from there: lcp session fork {conversation:?} \
             --at {position} --as NEW"
        )),
        _ => failure,
    }
}
