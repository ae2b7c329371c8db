//! A gateway between agents and the APIs of models. It keeps requests within a budget, and never edits
//! the part that the provider has cached, unless the request would fail otherwise (RFC 0016).
//!
//! [`rewrite`] is the edit of a request: a pure function, without network, clock and files.
//!
//! | topic | file |
//! |---|---|
//! | requests and the places of their tool results | `request.rs`, `request/item.rs`, `json.rs` |
//! | the edit; old results that become stubs | `rewrite.rs`; `rewrite/cuts.rs` |
//! | decisions, which later requests repeat | `decisions.rs` |
//! | the warm prefix; hashes that the next request takes over | `beginnings.rs`; `hash_chain.rs` |
//! | lines that an earlier result shows | `duplicates.rs` |
//!
//! With the feature `proxy`, [`serve`] runs it as a server.
//!
//! | topic | file |
//! |---|---|
//! | stored decisions, beginnings, originals and usage | `store.rs`, `store/` |
//! | the usage in responses; costs | `usage.rs`; `bill.rs` |
//! | the edited body; token counts for the bill | `body.rs`; `rewrite/deferred_counts.rs` |
//! | edits with the store | `proxy/editor.rs` |
//! | requests as they arrive, and the ones before; their texts | `proxy/recent.rs`; `proxy/text.rs` |
//! | connections and their limits; requests of clients | `proxy.rs`; `proxy/endpoint.rs` |
//! | headers; bodies of requests and responses | `proxy/headers.rs`; `proxy/body.rs` |
//! | compressed responses; slow clients | `proxy/decoding.rs`; `proxy/patience.rs` |
//! | the provider: addresses, TLS, proxies | `proxy/upstream.rs` |
//! | pages of the gateway | `proxy/page.rs` |
//! | agents that run with a gateway | `agent.rs` |

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "proxy")]
pub mod agent;
mod beginnings;
#[cfg(feature = "proxy")]
mod bill;
mod body;
mod decisions;
mod duplicates;
mod hash_chain;
mod json;
#[cfg(feature = "proxy")]
mod proxy;
mod request;
mod rewrite;
#[cfg(feature = "proxy")]
mod store;
#[cfg(feature = "proxy")]
mod usage;

pub use beginnings::{Beginning, Cached};
#[cfg(feature = "proxy")]
pub use bill::{SessionStats, Stats};
pub use body::EditedBody;
pub use decisions::{Decision, Hash, Key, Replacement};
#[cfg(feature = "proxy")]
pub use proxy::{
    EditOptions, Gateway, ProxyOptions, Token, Upstream, default_data_dir, read_stats, serve,
};
pub use request::{Api, Request, ResultText};
pub use rewrite::{Counts, DeferredCounts, Edit, Original, Policy, Reason, Rewritten, rewrite};
#[cfg(feature = "proxy")]
pub use usage::{ReportedUsage, Usage, UsageReader};
