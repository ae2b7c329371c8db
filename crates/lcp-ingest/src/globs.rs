//! Globs on labels, with a syntax like that of `.gitignore` files.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// A glob on labels.
///
/// `*` and `?` do not match `/`, but `**` does. A pattern without a slash matches a name at any
/// depth. A pattern with a slash is anchored at the top. A pattern also matches everything below a
/// folder that it matches. A slash at the end restricts the pattern to folders.
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
    /// Parses a pattern.
    ///
    /// # Errors
    ///
    /// Returns a message if the text is not a valid glob, matches nothing, or begins with `!`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (given, quoted) = (text, format!("{text:?}"));
        if text.starts_with('!') {
            return Err(format!("the glob {quoted} must not begin with `!`"));
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
            return Err(format!("the glob {quoted} cannot match any path"));
        }
        let itself = if from_top { text.to_owned() } else { format!("**/{text}") };
        let below = format!("{itself}/**");
        let globs = if only_folders { vec![below] } else { vec![itself, below] };
        let glob = |glob: &String| GlobBuilder::new(glob).literal_separator(true).build();
        let globs: Result<_, globset::Error> = globs.iter().map(glob).collect();
        let globs = globs.map_err(|error| format!("invalid glob {quoted}: {}", error.kind()))?;
        Ok(Self { text: given.to_owned(), globs })
    }

    /// Returns the text that was parsed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A set of patterns.
#[derive(Clone, Debug, Default)]
pub struct Globs {
    set: GlobSet,
    /// The index of the pattern that each glob of the set belongs to.
    owners: Vec<usize>,
}

impl Globs {
    /// Compiles patterns.
    ///
    /// # Errors
    ///
    /// Returns a message if the patterns are too large together.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p Pattern>) -> Result<Self, String> {
        let (mut set, mut owners) = (GlobSetBuilder::new(), Vec::new());
        for (owner, pattern) in patterns.into_iter().enumerate() {
            for glob in &pattern.globs {
                set.add(glob.clone());
                owners.push(owner);
            }
        }
        let set = set.build().map_err(|error| format!("invalid globs: {error}"))?;
        Ok(Self { set, owners })
    }

    /// Returns whether the set has no patterns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    /// Returns whether a pattern matches the label.
    #[must_use]
    pub fn is_match(&self, label: &str) -> bool {
        self.set.is_match(label)
    }

    /// Returns whether a pattern matches everything that the folder with this label can contain.
    #[must_use]
    pub fn is_folder_match(&self, label: &str) -> bool {
        !self.is_empty() && self.set.is_match(format!("{label}/"))
    }

    /// Returns the indices of the patterns that match, in ascending order, without repetitions.
    #[must_use]
    pub fn matches(&self, label: &str) -> Vec<usize> {
        let mut owners: Vec<_> =
            self.set.matches(label).into_iter().map(|glob| self.owners[glob]).collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }
}
