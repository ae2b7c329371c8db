//! The text of a configuration file without its byte order mark, and with line feeds only.

use std::path::Path;

use crate::error::{Error, ErrorKind, Result};
use crate::files;

const BOM: char = '\u{feff}';

/// The result of an edit.
#[derive(Debug)]
pub(super) struct Edited {
    pub(super) text: String,
    /// `true` if another entry of the same name was replaced.
    pub(super) replaces: bool,
}

/// The failure of an edit.
#[derive(Debug)]
pub(super) struct EditError {
    pub(super) message: String,
    /// The line and the column, counted from 1.
    pub(super) position: Option<(usize, usize)>,
}

impl EditError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), position: None }
    }
}

/// Edits the text of a file, or an empty one. An edit that returns `None` leaves the text as it is.
/// Byte order mark and line ends stay.
///
/// # Errors
///
/// Returns an error that names the file and the line.
pub(super) fn edit(
    path: &Path,
    text: Option<&str>,
    edit: impl FnOnce(&str) -> Result<Option<Edited>, EditError>,
) -> Result<Edited> {
    let text = text.unwrap_or_default();
    let (bom, rest) = match text.strip_prefix(BOM) {
        Some(rest) => (&text[..BOM.len_utf8()], rest),
        None => ("", text),
    };
    let lines = rest.matches('\n').count();
    let is_crlf = lines > 0 && rest.matches("\r\n").count() == lines;
    let edited = if is_crlf { edit(&rest.replace("\r\n", "\n")) } else { edit(rest) };
    let edited = edited.map_err(|error| {
        let position =
            error.position.map(|(line, column)| format!(" (line {line}, column {column})"));
        let message = format!("{}{}", error.message, position.unwrap_or_default());
        Error::new(ErrorKind::Malformed, files::located(&message, path))
            .with_hint("correct the file, and run the command again")
    })?;
    let Some(Edited { text: new, replaces }) = edited else {
        return Ok(Edited { text: text.to_owned(), replaces: false });
    };
    let new = if is_crlf { new.replace('\n', "\r\n") } else { new };
    Ok(Edited { text: format!("{bom}{new}"), replaces })
}

/// Returns whether a text has no settings and no comments.
pub(super) fn is_empty(text: &str) -> bool {
    let text = text.trim_start_matches(BOM).trim();
    let object = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    object.unwrap_or(text).trim().is_empty()
}
