//! Further levels of detail that a pack carries of a block.

use std::borrow::Cow;

use crate::Extension;

crate::named_enum! {
    /// A level of detail that a pack can carry besides content and summary (RFC 0004 §6).
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
        /// Between the content and the summary.
        Detailed = "detailed",
        /// A few words, below the summary.
        Tags = "tags",
    }
}

/// The text of a block at a level that the pack carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlternateText<'a> {
    /// The index of the block, annotations counted.
    pub target: u64,
    /// The level.
    pub level: CarriedLevel,
    /// The text that is shown in place of the content; empty for none.
    pub text: Cow<'a, str>,
}

impl<'a> AlternateText<'a> {
    /// Reads the level that an extension carries; `None` if it is another extension.
    ///
    /// # Errors
    ///
    /// Describes the fault of a malformed level.
    #[must_use]
    pub fn from_extension(extension: &'a Extension<'_>) -> Option<Result<Self, &'static str>> {
        let is_level = extension.namespace == CarriedLevel::NAMESPACE
            && extension.type_name == CarriedLevel::TYPE_NAME;
        is_level.then(|| {
            let text = extension.content.as_str().ok_or("a level is not UTF-8")?;
            let bad = "a level must begin with a line `TARGET detailed` or `TARGET tags`";
            let (head, text) = text.split_once('\n').ok_or(bad)?;
            let (target, level) = head.split_once(' ').ok_or(bad)?;
            let level = CarriedLevel::from_name(level).ok_or(bad)?;
            let target = target.parse().map_err(|_| bad)?;
            Ok(Self { target, level, text: text.into() })
        })
    }
}

impl CarriedLevel {
    /// The namespace of the extensions that are LCP's own: metadata, never
    /// shown as blocks.
    pub const NAMESPACE: &'static str = "lcp";

    /// The type name of an extension that is a level of another block.
    pub const TYPE_NAME: &'static str = "level";

    /// Returns the extension that carries this level of block `target`; the last one wins.
    #[must_use]
    pub fn to_extension(self, target: u64, text: &str) -> Extension<'static> {
        let content = format!("{target} {}\n{text}", self.name());
        Extension::from_fields(Self::NAMESPACE.into(), Self::TYPE_NAME.into(), content.into())
    }
}
