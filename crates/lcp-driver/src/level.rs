//! Further levels of detail that a pack carries of a block (RFC 0004 §6).

use std::borrow::Cow;

use lcp_types::{Block, BlockContent, Bytes};

use crate::meta::{Meta, brief};

/// The name of LCP's own extensions.
pub(crate) const NAMESPACE: &str = "lcp";

/// The type name of an extension that is a level of another block.
const TYPE_NAME: &str = "level";

/// A level of detail that a pack can carry of a block besides its content and
/// its summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// Between the content and the summary.
    Detailed,
    /// A few words, below the summary.
    Tags,
}

impl Level {
    /// Every level, the fullest first.
    pub const ALL: [Self; 2] = [Self::Detailed, Self::Tags];

    /// The name in packs, heads and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Detailed => "detailed",
            Self::Tags => "tags",
        }
    }

    /// The block that carries this level of block `target`, an index in the
    /// stream with annotations counted.
    ///
    /// It is an extension in LCP's own namespace: other readers of the format
    /// keep it, and never take it for a block of its own if they know the
    /// namespace.
    ///
    /// ```
    /// use lcp_driver::{DefaultDriver, DriverConfig, Level, OutputMode};
    /// use lcp_types::{Block, Lang};
    ///
    /// let source = "fn f() -> u32 { 1 }\n".repeat(100);
    /// let blocks = [
    ///     Block::code(Lang::Rust, "f.rs", source.as_str()),
    ///     Level::Detailed.block(0, "fn f() -> u32, a hundred times"),
    /// ];
    /// let config = DriverConfig {
    ///     token_budget: Some(40),
    ///     mode: OutputMode::Minimal,
    ///     ..DriverConfig::default()
    /// };
    /// assert_eq!(
    ///     DefaultDriver::default().render(&blocks, &config)?,
    ///     "[code f.rs (detailed)]\nfn f() -> u32, a hundred times\n",
    /// );
    /// # Ok::<(), lcp_driver::DriverError>(())
    /// ```
    #[must_use]
    pub fn block(self, target: u64, text: &str) -> Block<'static> {
        Block::extension(NAMESPACE, TYPE_NAME, format!("{target} {}\n{text}", self.name()))
    }
}

/// The content of a block that is a level of another one.
pub(crate) fn content<'b>(block: &'b Block<'_>) -> Option<&'b Bytes<'b>> {
    match &block.content {
        BlockContent::Extension(extension)
            if extension.namespace == NAMESPACE && extension.type_name == TYPE_NAME =>
        {
            Some(&extension.content)
        }
        _ => None,
    }
}

/// Gives the level to its target, or says what is wrong with it.
pub(crate) fn apply<'b>(content: &'b Bytes<'_>, metas: &mut [Meta<'b>]) -> Result<(), String> {
    let bad = || {
        format!("a level must begin with `TARGET detailed` or `TARGET tags`: {}", brief(content))
    };
    let text = content.as_str().ok_or("a level is not UTF-8")?;
    let (head, text) = text.split_once('\n').ok_or_else(bad)?;
    let (target, level) = head.split_once(' ').ok_or_else(bad)?;
    let level = Level::ALL.into_iter().find(|known| known.name() == level).ok_or_else(bad)?;
    let index: u64 = target.parse().map_err(|_| bad())?;
    let meta = usize::try_from(index).ok().and_then(|index| metas.get_mut(index));
    let meta = meta.ok_or_else(|| format!("a level names block {index}, which does not exist"))?;
    let text = Some(Cow::Borrowed(text)).filter(|text| !text.is_empty());
    match level {
        Level::Detailed => meta.detailed = text,
        Level::Tags => meta.tags = text,
    }
    Ok(())
}
