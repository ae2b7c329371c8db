//! The flags of a question, which decides the order of blocks.

use std::path::{Path, PathBuf};

use lcp_app::rank::{HistorySource, QUERY_BYTES_MAX, QueryOptions};
use lcp_app::{Error, ErrorKind};

use crate::Result;
use crate::files;
use crate::output::Output;

/// The flags of a question.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct QueryArgs {
    /// Rank by relevance to this text: an issue, a stack trace, a sentence; `-` for standard input;
    /// repeatable
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub query: Vec<String>,
    /// As --query, with the text of a file; `-` for standard input; repeatable
    #[arg(long, value_name = "FILE")]
    pub query_file: Vec<PathBuf>,
    /// A path or a symbol that is certainly needed, such as src/main.rs or Parser; repeatable
    #[arg(long, value_name = "NAME")]
    pub mention: Vec<String>,
    /// The git repository whose past commits are compared with the text, or off
    /// [default: that of the files; for `rank`, that of the current folder if it has most of them]
    #[arg(long, value_name = "FOLDER", value_parser = history)]
    pub history: Option<HistorySource>,
    /// Do not use the cache of words, passages and commits
    #[arg(long)]
    pub no_query_cache: bool,
}

impl QueryArgs {
    /// Returns whether one of the flags reads standard input.
    pub fn reads_stdin(&self) -> bool {
        let standard = Path::new(files::STANDARD);
        self.query.iter().any(|text| text == files::STANDARD)
            || self.query_file.iter().any(|path| path == standard)
    }

    /// Returns whether there is a question.
    pub fn is_empty(&self) -> bool {
        self.query.is_empty() && self.query_file.is_empty() && self.mention.is_empty()
    }

    /// Reads the texts.
    pub fn to_options(&self, output: &Output) -> Result<QueryOptions> {
        let mut texts = Vec::new();
        for text in &self.query {
            if text == files::STANDARD {
                texts.push(read(Path::new(text), output)?);
            } else {
                texts.push(text.clone());
            }
        }
        for path in &self.query_file {
            texts.push(read(path, output)?);
        }
        let history = self.history.clone().unwrap_or_default();
        let mentions = self.mention.clone();
        Ok(QueryOptions { texts, mentions, history, no_cache: self.no_query_cache })
    }
}

/// Reads the text of a question.
fn read(path: &Path, output: &Output) -> Result<String> {
    let bytes = files::read(path, output)?;
    let name = files::display_name(path);
    if bytes.len() as u64 > QUERY_BYTES_MAX {
        let message =
            format!("the question has {} bytes, more than {QUERY_BYTES_MAX} ({name})", bytes.len());
        return Err(Error::new(ErrorKind::Limit, message).with_hint("pass the part with the error"));
    }
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    text.ok_or_else(|| {
        let message = format!("the question is not text in UTF-8 ({name})");
        Error::new(ErrorKind::Usage, message)
    })
}

fn history(value: &str) -> Result<HistorySource, String> {
    match value {
        "" => Err("expected a folder or off".to_owned()),
        "off" => Ok(HistorySource::Off),
        folder if Path::new(folder).is_dir() => Ok(HistorySource::Folder(folder.into())),
        _ => Err("expected an existing folder or off".to_owned()),
    }
}
