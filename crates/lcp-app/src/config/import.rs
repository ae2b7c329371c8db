//! `[import]`: the recognition of blocks in transcripts (RFC 0012 §9).

use lcp_types::normalize_tool_name;

use super::reader::{Result, Section};

/// The settings of imports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportSettings {
    /// The names of search tools in addition to those that LCP knows.
    pub search_tools: Vec<String>,
}

impl ImportSettings {
    pub(super) fn read(root: &mut Section<'_>) -> Result<Self> {
        let Some(mut section) = root.section("import")? else { return Ok(Self::default()) };
        let mut search_tools = Vec::new();
        if let Some(names) = section.take("search_tools") {
            for entry in names.items()? {
                let name = entry.text()?;
                if normalize_tool_name(&name).is_empty() {
                    return Err(entry.value_error("must contain an ASCII letter or digit"));
                }
                search_tools.push(name);
            }
        }
        section.finish()?;
        Ok(Self { search_tools })
    }
}
