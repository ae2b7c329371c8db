//! Flags that set properties of blocks.

use lcp_packfile::Properties;
use lcp_types::{Priority, Tag};

use crate::arguments::by_name;

/// The flags that set the category and the priority of blocks.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct PropertyArgs {
    /// Set the category of the blocks; they use its share of the budget
    #[arg(long, value_name = "NAME", value_parser = category)]
    category: Option<String>,
    /// Set the priority of the blocks
    #[arg(long, value_name = "LEVEL",
        value_parser = by_name(Priority::ALL.map(|priority| (priority.name(), priority))))]
    priority: Option<Priority>,
}

impl PropertyArgs {
    /// Returns the properties that these flags set.
    pub fn to_properties(&self) -> Properties {
        let category = self.category.clone().map(|name| Tag::new(Tag::CATEGORY, name));
        Properties { priority: self.priority, tags: category.into_iter().collect() }
    }
}

/// Parses the name of a category.
pub fn category(name: &str) -> Result<String, String> {
    if name.is_empty() {
        return Err("the category name must not be empty".to_owned());
    }
    Ok(name.to_owned())
}
