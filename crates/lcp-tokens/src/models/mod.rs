//! The encodings, context windows and output limits of models.
//!
//! [`Models`] is a table of these values, with a lookup by the name that users write. The built-in
//! rows are in `table.rs`, each group with its source. With the feature `models-file`, an
//! `lcp.toml` adds rows.

mod lookup;
mod table;
#[cfg(feature = "models-file")]
mod toml;

use std::path::{Path, PathBuf};

#[cfg(feature = "models-file")]
pub use self::toml::ModelsError;

/// The encodings that a model can name, including those that are not compiled in. Any other value
/// is a tokenizer file.
#[rustfmt::skip]
pub const ENCODINGS: &[&str] = &[
    "o200k_base", "cl100k_base", "o200k_harmony", "p50k_base", "r50k_base", "claude", "claude-4.7",
    "heuristic", "code-aware",
];

/// A model in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Model {
    /// The name in reports.
    pub name: String,
    /// The encoding: one of [`ENCODINGS`], or the path of a tokenizer file as written in an
    /// `lcp.toml`. `None` if the tokenizer is not built in; exact counts then need a file.
    pub encoding: Option<String>,
    /// The context window (input and output together) in tokens. It is never 0.
    pub window: u32,
    /// The maximum length of one response in tokens, if a limit is known.
    pub output_max: Option<u32>,
    /// Further names, which match as a whole.
    pub aliases: Vec<String>,
    /// Prefixes of names. [`Models::find`] describes how they match.
    pub prefixes: Vec<String>,
    /// `true` if this row represents a whole family: the model itself is not in the table, and the
    /// values are conservative ones for its family.
    pub is_family_default: bool,
}

impl Model {
    /// Returns the path of the tokenizer file, if the model has one. A relative path is joined to
    /// `folder`, the folder of the file that names it.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// let models = lcp_tokens::Models::builtin();
    /// // This one is counted without a file.
    /// assert_eq!(models.find("gpt-4o")?.tokenizer_file(Path::new("/work")), None);
    /// # Ok::<(), lcp_tokens::UnknownModel>(())
    /// ```
    #[must_use]
    pub fn tokenizer_file(&self, folder: &Path) -> Option<PathBuf> {
        let encoding = self.encoding.as_deref()?;
        (!ENCODINGS.contains(&encoding)).then(|| folder.join(encoding))
    }

    /// Returns every name of the model that matches as a whole.
    fn spellings(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.aliases).map(String::as_str)
    }
}

/// The error for an unknown model name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown model {name:?}{}", describe(suggestions))]
pub struct UnknownModel {
    /// The requested name.
    pub name: String,
    /// Up to 5 models with similar names, most similar first.
    pub suggestions: Vec<String>,
}

fn describe(suggestions: &[String]) -> String {
    if suggestions.is_empty() {
        return String::new();
    }
    format!("; similar names: {}", suggestions.join(", "))
}

/// The table of models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Models {
    /// The models, latest additions first, so that these take precedence.
    models: Vec<Model>,
}

impl Models {
    /// Returns the built-in models.
    #[must_use]
    pub fn builtin() -> Self {
        Self { models: table::models().collect() }
    }

    /// Returns the model with this name.
    ///
    /// Case is ignored, and a space or `_` equals `-`. Prefixes such as `openai/`, `models/`,
    /// `us.anthropic.` and `ft:` are ignored.
    ///
    /// Whole names and aliases are tried first, then the longest prefix. A prefix that ends with a
    /// separator, such as `my-model-`, matches every name that begins with it. Any other prefix
    /// must end at the end of a part of the name, and the rest of the name must not indicate
    /// another model:
    ///
    /// - a version: `claude-opus-4` does not match `claude-opus-4-9`, but a date or build of three
    ///   or more digits may follow, or a size (`-70b`);
    /// - a sibling: `gpt-5.4` does not match `gpt-5.4-mini`;
    /// - another kind, at any position: `gpt-4o` does not match `gpt-4o-mini-tts`.
    ///
    /// Three families have a row for models that the table does not contain, marked
    /// [`Model::is_family_default`]: `gpt-5.…`, `claude-…` and `gemini-…`. The row has the smallest
    /// window of the text models of the family (Claude since 3, Gemini since 1.5) and the encoding
    /// with the highest counts. In other families the models differ too much, so an unknown name is
    /// an error.
    ///
    /// # Errors
    ///
    /// Returns [`UnknownModel`], with similar names, if there is no such model.
    ///
    /// ```
    /// let models = lcp_tokens::Models::builtin();
    /// let model = models.find("openai/gpt-4o-2024-08-06")?;
    /// assert_eq!((model.name.as_str(), model.window), ("gpt-4o", 128_000));
    /// assert_eq!(model.encoding.as_deref(), Some("o200k_base"));
    ///
    /// let error = models.find("gtp-4o").unwrap_err();
    /// assert!(error.to_string().starts_with("unknown model \"gtp-4o\"; similar names: gpt-4o"));
    /// # Ok::<(), lcp_tokens::UnknownModel>(())
    /// ```
    pub fn find(&self, name: &str) -> Result<&Model, UnknownModel> {
        lookup::find(&self.models, name).ok_or_else(|| UnknownModel {
            name: name.to_owned(),
            suggestions: lookup::suggestions(&self.models, name),
        })
    }

    /// Returns every model: latest additions first, families last.
    pub fn iter(&self) -> impl Iterator<Item = &Model> {
        self.models.iter()
    }

    /// Adds the `[[model]]` entries of an `lcp.toml`. They take precedence over existing models.
    ///
    /// ```toml
    /// [[model]]
    /// name = "my-model"                # required
    /// window = 128000                  # required, in tokens
    /// output = 16384                   # optional, in tokens
    /// encoding = "models/mine.json"    # optional: one of `ENCODINGS`, or a tokenizer file
    /// aliases = ["mine"]               # optional
    /// prefixes = ["my-model-"]         # optional
    /// ```
    ///
    /// A value of `encoding` that is not one of [`ENCODINGS`] is a file if it contains `.`, `/` or
    /// `\`. [`Model::tokenizer_file`] returns its path. An entry with the name of an existing model
    /// replaces it. Values that the entry omits are kept, and its aliases and prefixes are added.
    ///
    /// Other keys and tables of the file are ignored. If there is an error, the table does not
    /// change.
    ///
    /// # Errors
    ///
    /// Returns a [`ModelsError`] with line and column for
    ///
    /// - text that is not TOML;
    /// - an entry with an unknown key or without a required one;
    /// - a limit of 0, or an output limit that exceeds the window;
    /// - an empty or duplicate name;
    /// - an unknown encoding.
    ///
    /// ```
    /// let mut models = lcp_tokens::Models::builtin();
    /// models.extend_from_toml(
    ///     r#"
    ///     [[model]]
    ///     name = "my-model"
    ///     prefixes = ["my-model-"]
    ///     encoding = "o200k_base"
    ///     window = 32000
    ///     "#,
    /// )?;
    /// assert_eq!(models.find("my-model-7")?.window, 32_000);
    ///
    /// let error = models.extend_from_toml("[[model]]\nname = \"x\"\nwindow = 0").unwrap_err();
    /// assert_eq!(error.to_string(), "window of \"x\" must not be 0, at line 3, column 10");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "models-file")]
    pub fn extend_from_toml(&mut self, text: &str) -> Result<(), ModelsError> {
        for mut model in toml::parse(text)?.into_iter().rev() {
            if let Some(at) = self
                .models
                .iter()
                .position(|old| lookup::normalize(&old.name) == lookup::normalize(&model.name))
            {
                let old = self.models.remove(at);
                model.encoding = model.encoding.or(old.encoding);
                // The old limit may exceed the new window.
                let fits = |&output: &u32| output <= model.window;
                model.output_max = model.output_max.or(old.output_max.filter(fits));
                model.aliases.extend(old.aliases);
                model.prefixes.extend(old.prefixes);
            }
            self.models.insert(0, model);
        }
        Ok(())
    }
}
