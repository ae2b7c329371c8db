//! The role of a file in its project, by its path and kind.

use lcp_ingest::default_priority;
use lcp_ingest::outline::InputKind;
use lcp_types::{Lang, Priority};

use crate::paths::folder;

/// The role of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Source,
    /// A test, an example, a benchmark, or another file of the default priority Low.
    Test,
    Document,
    /// Settings, data, and text of unknown kinds.
    Other,
    /// A file that a program wrote.
    Generated,
}

impl Role {
    pub(crate) fn new(path: &str, kind: InputKind) -> Self {
        let is_document = kind == InputKind::Document || is_in(path, &DOCUMENT_FOLDERS);
        match (default_priority(path), kind) {
            (Some(Priority::Background), _) => Self::Generated,
            (Some(Priority::Low), _) => Self::Test,
            _ if is_in(path, &TEST_FOLDERS) => Self::Test,
            _ if is_document => Self::Document,
            (_, InputKind::Code(lang)) if is_programming(lang) => Self::Source,
            (_, InputKind::TaggedCode(_)) => Self::Source,
            _ => Self::Other,
        }
    }
}

/// Folders of documentation.
const DOCUMENT_FOLDERS: [&str; 7] =
    ["doc", "docs", "www", "website", "changelog", "changelogs", "changes"];

/// Folders that are tests for rankings only. Their default priority is not Low, because some projects
/// have other code in them.
const TEST_FOLDERS: [&str; 9] = [
    "acceptance", "e2e", "mock", "mocks", "__mocks__", "playground", "playgrounds", "testing",
    "testutil",
];

/// Returns whether a path has one of the folders.
fn is_in(path: &str, folders: &[&str]) -> bool {
    folder(path).split('/').any(|folder| folders.contains(&folder))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_decide_the_role_of_code() {
        let role = |path| Role::new(path, InputKind::Code(Lang::Rust));
        for path in ["tests/a.rs", "src/testing/a.rs", "e2e/docs/a.rs"] {
            assert_eq!(role(path), Role::Test, "{path}");
        }
        for path in ["src/testing.rs", "src/mocking/a.rs"] {
            assert_eq!(role(path), Role::Source, "{path}");
        }
        assert_eq!(role("docs/a.rs"), Role::Document);
    }
}
