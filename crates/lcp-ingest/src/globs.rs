//! Globs on labels, as people know them from `.gitignore` files.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// A glob on labels.
///
/// `*` and `?` stop at `/`, `**` does not. A pattern without a slash matches that name
/// anywhere, one with a slash from the top; what it matches includes all that lies below.
/// A slash at its end means folders alone.
///
/// ```
/// use lcp_ingest::{Globs, Pattern};
///
/// let globs = Globs::new(&[Pattern::parse("*.lock")?, Pattern::parse("/docs/old")?])?;
/// assert!(globs.is_match("a/b.lock") && globs.is_match("docs/old/a.md"));
/// assert!(!globs.is_match("a/docs/old/a.md"));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    globs: Vec<Glob>,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// A message, if it can match nothing or is no glob.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (given, quoted) = (text, format!("{text:?}"));
        if text.starts_with('!') {
            return Err(format!("the glob {quoted} begins with `!`, which says nothing here"));
        }
        let (text, only_folders) = match text.strip_suffix('/') {
            Some(text) => (text, true),
            None => (text, false),
        };
        let text = text.strip_prefix("./").map_or(text, |text| text);
        let (text, from_top) = match text.strip_prefix('/') {
            Some(text) => (text, true),
            None => (text, text.contains('/')),
        };
        if text.is_empty() {
            return Err(format!("the glob {quoted} matches nothing"));
        }
        let itself = if from_top { text.to_owned() } else { format!("**/{text}") };
        let below = format!("{itself}/**");
        let globs = if only_folders { vec![below] } else { vec![itself, below] };
        let glob = |glob: &String| GlobBuilder::new(glob).literal_separator(true).build();
        let globs: Result<_, globset::Error> = globs.iter().map(glob).collect();
        let globs =
            globs.map_err(|error| format!("the glob {quoted} is wrong: {}", error.kind()))?;
        Ok(Self { text: given.to_owned(), globs })
    }

    /// Returns the pattern as it was given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Patterns that are looked up together.
#[derive(Clone, Debug, Default)]
pub struct Globs {
    set: GlobSet,
    /// The pattern that each glob of the set belongs to.
    owners: Vec<usize>,
}

impl Globs {
    /// Compiles patterns.
    ///
    /// # Errors
    ///
    /// A message, if they are too large together.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p Pattern>) -> Result<Self, String> {
        let (mut set, mut owners) = (GlobSetBuilder::new(), Vec::new());
        for (owner, pattern) in patterns.into_iter().enumerate() {
            for glob in &pattern.globs {
                set.add(glob.clone());
                owners.push(owner);
            }
        }
        let set = set.build().map_err(|error| format!("the globs are wrong: {error}"))?;
        Ok(Self { set, owners })
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    /// Returns whether one of them matches.
    #[must_use]
    pub fn is_match(&self, label: &str) -> bool {
        self.set.is_match(label)
    }

    /// Returns whether one of them matches everything that a folder can contain.
    #[must_use]
    pub fn is_folder_match(&self, label: &str) -> bool {
        !self.is_empty() && self.set.is_match(format!("{label}/"))
    }

    /// Returns the indices of those that match, in order, each once.
    #[must_use]
    pub fn matches(&self, label: &str) -> Vec<usize> {
        let mut owners: Vec<_> =
            self.set.matches(label).into_iter().map(|glob| self.owners[glob]).collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }
}
