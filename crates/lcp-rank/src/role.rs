//! The role of a file in its project, by its path and kind.

use lcp_ingest::default_priority;
use lcp_ingest::outline::InputKind;
use lcp_types::{Lang, Priority};

/// The role of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Source,
    /// A test, an example or a benchmark.
    Test,
    Document,
    /// Settings, data, and text of unknown kinds.
    Other,
    /// A file that a program wrote.
    Generated,
}

impl Role {
    pub(crate) fn new(path: &str, kind: InputKind) -> Self {
        let is_document = kind == InputKind::Document || is_in_documents(path);
        match (default_priority(path), kind) {
            (Some(Priority::Background), _) => Self::Generated,
            (Some(Priority::Low), _) => Self::Test,
            _ if is_document => Self::Document,
            (_, InputKind::Code(lang)) if is_programming(lang) => Self::Source,
            (_, InputKind::TaggedCode(_)) => Self::Source,
            _ => Self::Other,
        }
    }
}

/// Returns whether a path has a folder of documentation.
fn is_in_documents(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').any(|folder| {
        matches!(
            folder,
            "doc" | "docs" | "www" | "website" | "changelog" | "changelogs" | "changes"
        )
    })
}

/// Returns whether a language is for programs.
const fn is_programming(lang: Lang) -> bool {
    !matches!(
        lang,
        Lang::Unknown
            | Lang::Css
            | Lang::Html
            | Lang::Json
            | Lang::Markdown
            | Lang::Toml
            | Lang::Yaml
    )
}
