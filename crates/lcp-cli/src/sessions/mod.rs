//! Sessions (RFC 0010 §7): conversations in a store, recorded, handed over, resumed.
//!
//! | look for | in |
//! |---|---|
//! | what `track`, `handoff` and `resume` do, for any program | [`Sessions`] |
//! | where sessions are kept | [`Place`] |
//! | how hand-offs are made, by flags and `lcp.toml` | [`Making`], [`WindowFlags`] |
//! | messages of files | [`input`] |
//! | what is given back when the process is interrupted | [`Held`] |

mod address;
mod held;
pub mod input;
mod making;
mod opened;
mod place;
mod tracked;
mod window;
mod work;

pub use held::Held;
pub use making::Making;
pub use opened::{Opened, SessionFlags};
pub use place::{Place, StoreFlag};
pub use tracked::{Tracked, Verdict};
pub use window::{Window, WindowFlags};
pub use work::{Prepared, Said, Sessions, When};

use lcp_continuity::Error;
use lcp_continuity::store;

use crate::failure::{Code, Failure};

/// What a store or the service says is wrong, with its code.
pub fn failed(error: impl Into<Error>) -> Failure {
    let error = error.into();
    let code = match &error {
        Error::Store(store::Error::TooLarge { .. }) => Code::Limit,
        Error::Store(store::Error::BadId { .. }) => Code::Usage,
        Error::Package(_) => Code::Malformed,
        _ => Code::Io,
    };
    let mut failure = Failure::new(code, format!("{error} [{}]", error.code()));
    failure.name = (code == Code::Io).then(|| error.code());
    match error {
        Error::Store(store::Error::UnknownConversation { .. }) => {
            failure.hint("`lcp store list` tells those that there are")
        }
        Error::Store(store::Error::UnknownHandoff { .. }) => {
            failure.hint("`lcp store show ID` tells the hand-offs of a conversation")
        }
        Error::Store(store::Error::AlreadyResumed { handoff, .. }) => failure.hint(format!(
            "if it was you, `lcp resume --again {}`, or `again` of the tool `resume`, gives once \
             more what that gave",
            handoff.escape_debug()
        )),
        Error::Differs { conversation, position } => failure.hint(format!(
            "record it under another id, or go on from there: lcp store fork {conversation:?} \
             --at {position} --as NEW"
        )),
        _ => failure,
    }
}
