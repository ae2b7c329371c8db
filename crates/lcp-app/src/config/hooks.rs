//! `[hooks]`: the hooks that agents call (RFC 0016 §9).

use super::reader::{Result, Section};

/// The settings of hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookSettings {
    /// The maximum number of tokens that are given back after a compaction.
    pub budget: Option<u32>,
}

impl HookSettings {
    pub(super) fn read(root: &mut Section<'_>) -> Result<Self> {
        let Some(mut section) = root.section("hooks")? else { return Ok(Self::default()) };
        let settings = Self { budget: section.integer("budget")? };
        section.finish()?;
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::config::Config;

    #[test]
    fn budget_is_read() {
        let read = |text: &str| Config::parse(Path::new("lcp.toml"), text);
        assert_eq!(read("[hooks]\nbudget = 500\n").unwrap().hooks.budget, Some(500));
        assert_eq!(read("").unwrap().hooks.budget, None);
        let error = read("[hooks]\nbudget = -1\n").unwrap_err();
        assert!(error.to_string().contains("hooks.budget"), "{error}");
    }
    #[test]
    fn unknown_keys_are_errors() {
        let error = Config::parse(Path::new("lcp.toml"), "[hooks]\nbudgets = 1\n").unwrap_err();
        assert!(error.to_string().contains("budgets"), "{error}");
    }
}
