//! `[gateway]`: the edits of requests that agents send (RFC 0016).

use lcp_ingest::{Globs, Pattern};
use serde_json::Value;

use super::reader::{Entry, Result, Section};

/// The settings of the gateway.
#[derive(Clone, Debug, Default)]
pub struct GatewaySettings {
    /// The number of tokens that a request should have at most. By default, the model decides.
    pub budget: Option<u32>,
    /// The tools whose results always stay.
    tools: Globs,
    /// The paths whose results always stay.
    paths: Globs,
}

impl GatewaySettings {
    pub(super) fn read(root: &mut Section<'_>) -> Result<Self> {
        let Some(mut section) = root.section("gateway")? else { return Ok(Self::default()) };
        let settings = Self {
            budget: section.integer_in("budget", 1..=u32::MAX)?,
            tools: globs(section.take("keep_tools"))?,
            paths: globs(section.take("keep_paths"))?,
        };
        section.finish()?;
        Ok(settings)
    }

    /// Returns whether the result of a call always stays. Its arguments are JSON, or a string that
    /// contains JSON.
    ///
    /// A pattern of paths matches the end of each path and of each word in the arguments, because a
    /// command also names paths.
    #[must_use]
    pub fn keeps(&self, tool: &str, arguments: &str) -> bool {
        if self.tools.is_match(tool) {
            return true;
        }
        if self.paths.is_empty() {
            return false;
        }
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        let inner = arguments.as_str().and_then(|text| serde_json::from_str(text).ok());
        self.keeps_paths(inner.as_ref().unwrap_or(&arguments))
    }

    fn keeps_paths(&self, arguments: &Value) -> bool {
        match arguments {
            Value::String(text) => {
                std::iter::once(text.as_str()).chain(text.split_whitespace()).any(|path| {
                    let path = path.trim_matches(['"', '\'']).trim_start_matches("./");
                    let folders = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
                    std::iter::once(path).chain(folders).any(|end| self.paths.is_match(end))
                })
            }
            Value::Array(values) => values.iter().any(|value| self.keeps_paths(value)),
            Value::Object(fields) => fields.values().any(|value| self.keeps_paths(value)),
            _ => false,
        }
    }
}

fn globs(entry: Option<Entry<'_>>) -> Result<Globs> {
    let mut patterns = Vec::new();
    for item in entry.map(Entry::items).transpose()?.into_iter().flatten() {
        patterns.push(Pattern::parse(&item.text()?).map_err(|error| item.key_error(error))?);
    }
    // The patterns are in the file, which is small.
    Ok(Globs::new(&patterns).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::config::Config;

    #[test]
    fn patterns_match_tools_and_the_ends_of_paths() {
        let text = "[gateway]\nbudget = 9\nkeep_tools = ['mcp__*']\nkeep_paths = ['*.lock', 'docs/*.md']\n";
        let gateway = Config::parse(Path::new("lcp.toml"), text).unwrap().gateway;
        assert_eq!(gateway.budget, Some(9));
        for (tool, arguments) in [
            ("mcp__db", "{}"),
            ("Read", r#"{"file_path":"/home/u/p/docs/a.md"}"#),
            ("shell", r#""{\"command\":[\"bash\",\"-lc\",\"cat './Cargo.lock' | head\"]}""#),
        ] {
            assert!(gateway.keeps(tool, arguments), "{tool} {arguments}");
        }
        for arguments in [r#"{"file_path":"/p/docs/old/a.md"}"#, "[1]", "no JSON", ""] {
            assert!(!gateway.keeps("Read", arguments), "{arguments}");
        }
        let none = Config::default().gateway;
        assert!(!none.keeps("mcp__db", r#"{"path":"a.lock"}"#) && none.budget.is_none());
    }

    #[test]
    fn invalid_patterns_are_errors() {
        let error = Config::parse(Path::new("lcp.toml"), "[gateway]\nkeep_paths = ['[']\n");
        assert!(error.unwrap_err().to_string().contains("gateway.keep_paths"));
    }
}
