//! The question of a call, which decides what a budget shows.

use std::borrow::Cow;

use lcp_app::rank::{HistorySource, QueryOptions};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use crate::sandbox::Roots;
use crate::state::ServerState;

/// A text, or several texts.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a string or an array of strings for `query`")]
pub(crate) enum Texts {
    One(String),
    Several(Vec<String>),
}

impl Default for Texts {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl JsonSchema for Texts {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Texts".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // Agents have one text, and pay for the schema.
        json_schema!({ "type": "string" })
    }
}

/// Returns the question of a call. Its history is that of a repository at a root, if the server may
/// run git.
pub(crate) fn question(state: &ServerState, query: Texts, mentions: Vec<String>) -> QueryOptions {
    let texts = match query {
        Texts::One(text) => vec![text],
        Texts::Several(texts) => texts,
    };
    let history = if state.config.git { history(&state.config.roots) } else { HistorySource::Off };
    // The server writes only the session store.
    QueryOptions { texts, mentions, history, no_cache: true }
}

/// Returns the roots that are repositories. If `.git` is a link or a file, it can lead to a
/// repository outside of the roots.
fn history(roots: &Roots) -> HistorySource {
    let is_repository = |root: &&std::path::Path| {
        root.join(".git").symlink_metadata().is_ok_and(|found| found.is_dir())
    };
    HistorySource::OneOf(roots.paths().filter(is_repository).map(Into::into).collect())
}
