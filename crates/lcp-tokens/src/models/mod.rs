//! Which model counts how, and how much it takes.
//!
//! [`Models`] is one table: a model's encoding, its context window and its
//! output limit, found by the name that people write. The rows that are built
//! in are in `table.rs`, each group with its source; with the feature
//! `models-file` an `lcp.toml` adds to them.

mod lookup;
mod table;
#[cfg(feature = "models-file")]
mod toml;

use std::path::{Path, PathBuf};

#[cfg(feature = "models-file")]
pub use self::toml::ModelsError;

/// The encodings that a model may name, whichever of them are compiled in;
/// everything else is a tokenizer file.
#[rustfmt::skip]
pub const ENCODINGS: &[&str] = &[
    "o200k_base", "cl100k_base", "o200k_harmony", "p50k_base", "r50k_base", "claude", "claude-4.7",
    "heuristic", "code-aware",
];

/// What is known of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Model {
    /// The name in reports.
    pub name: String,
    /// How its text is counted: one of [`ENCODINGS`], or the path of a
    /// tokenizer file as an `lcp.toml` has it. `None` where no tokenizer is
    /// built in: an exact count then needs a file.
    pub encoding: Option<String>,
    /// The context window, input and output together, in tokens; never 0.
    pub window: u32,
    /// The most that one answer may have, in tokens, where a limit is known.
    pub output_max: Option<u32>,
    /// Further names, which match as a whole.
    pub aliases: Vec<String>,
    /// Beginnings of names; [`Models::find`] says how far they reach.
    pub prefixes: Vec<String>,
    /// Whether this row stands for a whole family: the model itself is not in
    /// the table, and the values are the cautious ones of its family.
    pub is_family_default: bool,
}

impl Model {
    /// The tokenizer file, where the model has one: the path as it is written,
    /// relative to `folder`, the folder of the file that names it.
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

    /// Every spelling of the model that matches as a whole.
    fn spellings(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.aliases).map(String::as_str)
    }
}

/// A name that no model has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown model {name:?}; {}", describe(suggestions))]
pub struct UnknownModel {
    /// The name, as it was asked for.
    pub name: String,
    /// At most 5 models with similar names, the nearest first.
    pub suggestions: Vec<String>,
}

fn describe(suggestions: &[String]) -> String {
    if suggestions.is_empty() {
        return "no name that is known is near it".to_owned();
    }
    format!("names near it: {}", suggestions.join(", "))
}

/// The table of models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Models {
    /// Later additions first, so that they win.
    models: Vec<Model>,
}

impl Models {
    /// The models that are built in.
    #[must_use]
    pub fn builtin() -> Self {
        Self { models: table::models().collect() }
    }

    /// The model that a name means.
    ///
    /// Case does not matter, a space or `_` is a `-`, and what stands before
    /// the model is left out: `openai/`, `models/`, `us.anthropic.`, `ft:`.
    ///
    /// First come whole names and aliases, then the longest prefix. A prefix
    /// that ends with a separator, such as `my-model-`, reaches every name that
    /// begins with it. Any other must end where a part of the name ends, and
    /// what follows must not say that it is another model:
    ///
    /// - a version: `claude-opus-4` is not `claude-opus-4-9`, but a date or a
    ///   build of three digits and more may follow, and a size (`-70b`);
    /// - a sibling: `gpt-5.4` is not `gpt-5.4-mini`;
    /// - another kind, in any place: `gpt-4o` is not `gpt-4o-mini-tts`.
    ///
    /// Three families have a row for members that the table does not know,
    /// marked [`Model::is_family_default`]: `gpt-5.…`, `claude-…` and `gemini-…`, with
    /// the smallest window of the family's text models (Claude since 3, Gemini
    /// since 1.5) and the encoding that counts most. Other families differ too
    /// much from model to model: there an unknown name is an error.
    ///
    /// # Errors
    ///
    /// [`UnknownModel`], which lists names that are near.
    ///
    /// ```
    /// let models = lcp_tokens::Models::builtin();
    /// let model = models.find("openai/gpt-4o-2024-08-06")?;
    /// assert_eq!((model.name.as_str(), model.window), ("gpt-4o", 128_000));
    /// assert_eq!(model.encoding.as_deref(), Some("o200k_base"));
    ///
    /// let error = models.find("gtp-4o").unwrap_err();
    /// assert!(error.to_string().starts_with("unknown model \"gtp-4o\"; names near it: gpt-4o"));
    /// # Ok::<(), lcp_tokens::UnknownModel>(())
    /// ```
    pub fn find(&self, name: &str) -> Result<&Model, UnknownModel> {
        lookup::find(&self.models, name).ok_or_else(|| UnknownModel {
            name: name.to_owned(),
            suggestions: lookup::suggestions(&self.models, name),
        })
    }

    /// Every model, later additions first, families last.
    pub fn iter(&self) -> impl Iterator<Item = &Model> {
        self.models.iter()
    }

    /// Adds the `[[model]]` entries of an `lcp.toml`; they win over what is
    /// there.
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
    /// A value of `encoding` that is not one of [`ENCODINGS`] is a file if it
    /// has a `.`, `/` or `\`; [`Model::tokenizer_file`] joins it. An entry with
    /// the name of a model that is there replaces it, and what the entry leaves
    /// out stays as it was; its aliases and prefixes come on top.
    ///
    /// Other keys and tables of the file are not looked at. On an error the
    /// table is as it was.
    ///
    /// # Errors
    ///
    /// [`ModelsError`], with line and column: text that is not TOML, an entry
    /// with a key that is not known or without one that is required, a limit of
    /// 0 or an output that exceeds the window, a name that is empty or given
    /// twice, an encoding that is none.
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
                // The old limit may not fit into the new window.
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
