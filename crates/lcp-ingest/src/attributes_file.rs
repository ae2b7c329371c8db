//! `.gitattributes`: the attributes of Linguist (RFC 0013 §3). They mark files as generated,
//! vendored or documentation, and give their language.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::options::OpenFile;
use crate::paths::read_settings;

/// The name of the file.
const NAME: &str = ".gitattributes";

/// The attributes that a file sets or unsets.
const FLAGS: [&str; 3] = ["linguist-generated", "linguist-vendored", "linguist-documentation"];

/// The attribute with the language of a file.
const LANGUAGE: &str = "linguist-language";

/// The attributes of one file. An attribute that no line names is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LinguistAttributes {
    pub(crate) generated: Option<bool>,
    pub(crate) vendored: Option<bool>,
    pub(crate) documentation: Option<bool>,
    /// The name of the language, in lower case.
    pub(crate) language: Option<String>,
}

/// The attributes of all files below one folder. Each `.gitattributes` is read once.
pub(crate) struct AttributeFiles<'o> {
    top: PathBuf,
    open: Option<OpenFile<'o>>,
    files: Mutex<HashMap<PathBuf, Option<Arc<Lines>>>>,
}

/// The lines of one `.gitattributes`, by attribute.
#[derive(Debug)]
struct Lines {
    /// For each of [`FLAGS`], the patterns that set it, with those that unset it as exceptions.
    flags: [Gitignore; 3],
    /// For each language, its patterns. The last match wins.
    languages: Vec<(String, Gitignore)>,
}

impl<'o> AttributeFiles<'o> {
    /// Creates a reader for the files below `top`.
    pub(crate) fn new(top: &Path, open: Option<OpenFile<'o>>) -> Self {
        Self { top: top.to_owned(), open, files: Mutex::default() }
    }

    /// Returns the attributes of a file. The nearest `.gitattributes` wins.
    pub(crate) fn attributes(&self, path: &Path) -> LinguistAttributes {
        let mut attributes = LinguistAttributes::default();
        let absolute = self.top.is_absolute().then(|| std::path::absolute(path).ok()).flatten();
        let path = absolute.as_deref().unwrap_or(path);
        for folder in path.ancestors().skip(1) {
            if let Some(lines) = self.lines(folder) {
                attributes.add(&lines, path);
            }
            if folder == self.top {
                break;
            }
        }
        attributes
    }

    fn lines(&self, folder: &Path) -> Option<Arc<Lines>> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = files.entry(folder.to_owned()).or_insert_with(|| {
            let text = read_settings(&folder.join(NAME), self.open)?;
            Some(Arc::new(Lines::parse(folder, &text)))
        });
        lines.clone()
    }
}

impl LinguistAttributes {
    /// Adds the attributes that a file further up sets.
    fn add(&mut self, lines: &Lines, path: &Path) {
        let [generated, vendored, documentation] = &lines.flags;
        let flag = |patterns: &Gitignore| {
            let matched = patterns.matched(path, false);
            (!matched.is_none()).then(|| matched.is_ignore())
        };
        self.generated = self.generated.or_else(|| flag(generated));
        self.vendored = self.vendored.or_else(|| flag(vendored));
        self.documentation = self.documentation.or_else(|| flag(documentation));
        let language = || {
            let mut languages = lines.languages.iter().rev();
            languages.find(|(_, patterns)| patterns.matched(path, false).is_ignore())
        };
        self.language = self.language.take().or_else(|| Some(language()?.0.clone()));
    }
}

impl Lines {
    fn parse(folder: &Path, text: &str) -> Self {
        let mut flags = [const { Vec::new() }; 3];
        let mut languages: Vec<(String, Gitignore)> = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            let mut words = line.split_ascii_whitespace();
            // Git refuses negative patterns in this file.
            let Some(pattern) = words.next().filter(|pattern| !pattern.starts_with('!')) else {
                continue;
            };
            for word in words {
                if let Some(language) = word.strip_prefix(LANGUAGE) {
                    let language = language.strip_prefix('=').unwrap_or_default();
                    let patterns = build(folder, &[pattern.to_owned()]);
                    languages.push((language.to_lowercase(), patterns));
                }
                let set = |name: &str| match word.strip_prefix('-') {
                    Some(word) => (word == name).then_some(false),
                    None if word == name => Some(true),
                    None => {
                        let value = word.strip_prefix(name)?.strip_prefix('=')?;
                        Some(value.eq_ignore_ascii_case("true"))
                    }
                };
                for (patterns, name) in flags.iter_mut().zip(FLAGS) {
                    match set(name) {
                        Some(true) => patterns.push(pattern.to_owned()),
                        Some(false) => patterns.push(format!("!{pattern}")),
                        None => {}
                    }
                }
            }
        }
        Self { flags: flags.map(|patterns| build(folder, &patterns)), languages }
    }
}

/// Compiles patterns, which have the syntax of ignore files. An invalid one matches nothing.
fn build(folder: &Path, patterns: &[String]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    for pattern in patterns {
        let _ = builder.add_line(None, pattern);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(files: &[(&str, &str)], path: &str) -> LinguistAttributes {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let reader = AttributeFiles::new(folder.path(), None);
        reader.attributes(&folder.path().join(path))
    }

    #[test]
    fn attributes_are_set_unset_and_overridden() {
        let top = "# Files of others\n*.js linguist-vendored text=auto\n\
                   lib/*.js -linguist-vendored linguist-generated=true\n\
                   docs/** linguist-documentation\n*.inc linguist-language=PHP\n!x linguist-vendored";
        let files =
            [(".gitattributes", top), ("lib/.gitattributes", "a.js linguist-generated=false")];
        let vendored = attributes(&files, "x.js");
        assert_eq!((vendored.vendored, vendored.generated), (Some(true), None));
        let both = attributes(&files, "lib/b.js");
        assert_eq!((both.vendored, both.generated), (Some(false), Some(true)));
        assert_eq!(attributes(&files, "lib/a.js").generated, Some(false));
        assert_eq!(attributes(&files, "docs/a/b.md").documentation, Some(true));
        assert_eq!(attributes(&files, "a/b.inc").language.as_deref(), Some("php"));
        assert_eq!(attributes(&files, "a.rs"), LinguistAttributes::default());
    }

    #[test]
    fn unusable_files_set_nothing() {
        let broken =
            "[ linguist-vendored\n\u{0}\nlinguist-vendored\n*.rs linguist-vendored=maybe\n";
        assert_eq!(attributes(&[(".gitattributes", broken)], "a.rs").vendored, Some(false));
        assert_eq!(attributes(&[(".gitattributes/x", "")], "a.rs"), LinguistAttributes::default());
    }
}
