//! Alternate texts of blocks: additional detail levels stored in a pack.

use std::borrow::Cow;

use crate::Extension;

crate::named_enum! {
    /// A detail level that a pack can store in addition to the content and the summary (RFC 0004
    /// §6).
    ///
    /// ```
    /// use lcp_types::{AlternateText, Block, CarriedLevel, Lang};
    ///
    /// let block = Block::code(Lang::Rust, "src/main.rs", "fn main() { run() }");
    /// let level = CarriedLevel::Detailed.to_extension(0, "fn main()");
    /// let pack = [block, Block::new(level)];
    /// let found = pack[1].as_extension().and_then(AlternateText::from_extension).unwrap()?;
    /// assert_eq!((found.target, found.level, found.text.as_ref()), (0, CarriedLevel::Detailed, "fn main()"));
    /// # Ok::<(), &str>(())
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum CarriedLevel {
        /// A level between the content and the summary.
        Detailed = "detailed",
        /// A few words, shorter than the summary.
        Tags = "tags",
    }
}

/// The alternate text of a block at one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlternateText<'a> {
    /// The index of the block in the pack; annotations count as well.
    pub target: u64,
    /// The detail level.
    pub level: CarriedLevel,
    /// The text to show in place of the content. An empty text removes the level.
    pub text: Cow<'a, str>,
}

impl<'a> AlternateText<'a> {
    /// Parses the alternate text in an extension. Returns `None` if the extension is of another
    /// type.
    ///
    /// # Errors
    ///
    /// Returns a description of the problem if the extension is malformed.
    #[must_use]
    pub fn from_extension(extension: &'a Extension<'_>) -> Option<Result<Self, &'static str>> {
        let is_level = extension.namespace == CarriedLevel::NAMESPACE
            && extension.type_name == CarriedLevel::TYPE_NAME;
        is_level.then(|| {
            let text = extension.content.as_str().ok_or("text is not UTF-8")?;
            let bad = "expected a first line `TARGET detailed` or `TARGET tags`";
            let (head, text) = text.split_once('\n').ok_or(bad)?;
            let (target, level) = head.split_once(' ').ok_or(bad)?;
            let level = CarriedLevel::from_name(level).ok_or(bad)?;
            let target = target.parse().map_err(|_| bad)?;
            Ok(Self { target, level, text: text.into() })
        })
    }
}

impl CarriedLevel {
    /// The namespace of LCP. Extensions in this namespace are metadata and are never shown as
    /// blocks.
    pub const NAMESPACE: &'static str = "lcp";

    /// The type name of an extension that holds an alternate text.
    pub const TYPE_NAME: &'static str = "level";

    /// Returns the extension that stores this level for block `target`. If a block has several at
    /// one level, the last one wins.
    #[must_use]
    pub fn to_extension(self, target: u64, text: &str) -> Extension<'static> {
        let content = format!("{target} {}\n{text}", self.name());
        Extension::from_fields(Self::NAMESPACE.into(), Self::TYPE_NAME.into(), content.into())
    }
}
