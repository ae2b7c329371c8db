//! Shell commands that convert files of other formats to text (RFC 0013 §2).

use std::num::NonZeroUsize;
use std::path::PathBuf;

use lcp_continuity::command::{CommandError, CommandFilter, CommandOptions};
use lcp_secrets::Redactor;
use lcp_types::FormatHint;

use crate::globs::{Globs, Pattern};
use crate::options::{ConvertFiles, FileToConvert};
use crate::programs::Answers;

/// The place of the path in a command.
const PLACE: &str = "{}";

/// The environment variable with the path. A shell does not interpret the value of a variable, so
/// that a path can have any characters.
const PATH_VARIABLE: &str = "LCP_FILE";

/// The value of the variable in a command.
const PATH_VALUE: &str = if cfg!(windows) { "\"%LCP_FILE%\"" } else { "\"$LCP_FILE\"" };

/// The characters that begin and end a quotation in a command.
const QUOTES: &[char] = if cfg!(windows) { &['"'] } else { &['"', '\''] };

/// The words in a command by which its output is Markdown.
const MARKDOWN: [&str; 3] = ["markdown", "markitdown", "gfm"];

/// A shell command that converts matching files to text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertCommand {
    pattern: Pattern,
    /// The command as it was given.
    line: String,
    /// The command for the shell, with a variable in place of `{}`.
    shell_line: String,
}

impl ConvertCommand {
    /// Creates a command for the files that match a pattern.
    ///
    /// `{}` is the path of the file. A command without `{}` gets the file as standard input.
    ///
    /// # Errors
    ///
    /// Returns a message if the command is empty, or has `{}` in the quotes of a longer text.
    ///
    /// ```
    /// use lcp_ingest::{ConvertCommand, Pattern};
    ///
    /// let pattern = Pattern::parse("*.pdf")?;
    /// let command = ConvertCommand::new(pattern, "pdftotext -layout {} -")?;
    /// # let _ = command;
    /// # Ok::<(), String>(())
    /// ```
    pub fn new(pattern: Pattern, command: &str) -> Result<Self, String> {
        if command.trim().is_empty() {
            return Err("the command must not be empty".to_owned());
        }
        if command.contains('\0') {
            return Err("the command must not have a NUL".to_owned());
        }
        Ok(Self { pattern, line: command.to_owned(), shell_line: with_variable(command)? })
    }

    /// Returns whether the command names the file, so that it need not be on standard input.
    fn names_file(&self) -> bool {
        self.shell_line != self.line
    }

    /// Returns the format of the output.
    fn format(&self) -> FormatHint {
        let line = self.line.to_ascii_lowercase();
        let is_markdown = MARKDOWN.iter().any(|word| line.contains(word));
        if is_markdown { FormatHint::Markdown } else { FormatHint::Plain }
    }
}

/// Replaces `{}` by the variable, also if nothing else is in its quotes.
fn with_variable(command: &str) -> Result<String, String> {
    let (mut line, mut rest, mut quote) = (String::new(), command, None);
    while let Some(next) = rest.chars().next() {
        let alone = QUOTES
            .iter()
            .find_map(|of| rest.strip_prefix(*of)?.strip_prefix(PLACE)?.strip_prefix(*of));
        let alone = alone.filter(|_| quote.is_none());
        if let Some(after) = alone.or_else(|| rest.strip_prefix(PLACE)) {
            if quote.is_some() {
                return Err(format!(
                    "`{PLACE}` is in the quotes of a longer text in {command:?}; write it without \
                     quotes, such as --in={PLACE}"
                ));
            }
            line.push_str(PATH_VALUE);
            rest = after;
            continue;
        }
        let is_escape = next == '\\' && quote != Some('\'') && !cfg!(windows);
        let taken = rest.chars().take(if is_escape { 2 } else { 1 }).map(char::len_utf8).sum();
        let (copied, after) = rest.split_at(taken);
        line.push_str(copied);
        rest = after;
        quote = match quote {
            None if QUOTES.contains(&next) => Some(next),
            Some(open) if open == next => None,
            _ => quote,
        };
    }
    Ok(line)
}

/// A converter that runs a shell command for each file. Several threads can share it.
#[derive(Debug)]
pub struct FileConverter {
    commands: Vec<(ConvertCommand, CommandFilter)>,
    globs: Globs,
    answers: Answers,
}

impl FileConverter {
    /// Returns a converter with these commands; the last match wins.
    ///
    /// At most `jobs` commands run at once. Texts are stored in the folder `cache`, by the command
    /// and the content of the file, unless they have secrets.
    ///
    /// # Errors
    ///
    /// Returns a message if the patterns are too large together.
    pub fn new(
        commands: Vec<ConvertCommand>,
        options: CommandOptions,
        jobs: NonZeroUsize,
        cache: Option<PathBuf>,
    ) -> Result<Self, String> {
        let globs = Globs::new(commands.iter().map(|command| &command.pattern))?;
        let with_filter = |command: ConvertCommand| {
            let filter = CommandFilter::shell(&command.shell_line)
                .with_name(&without_secrets(&command.line));
            (command, filter.with_options(options))
        };
        let commands = commands.into_iter().map(with_filter).collect();
        let answers = Answers::new(jobs, cache, options.max_output_bytes as u64);
        Ok(Self { commands, globs, answers })
    }

    /// Returns a function that stops the running commands and prevents new ones from starting.
    pub fn stop_handle(&self) -> impl Fn() + Send + Sync + 'static {
        let filters: Vec<_> = self.commands.iter().map(|(_, filter)| filter.clone()).collect();
        move || filters.iter().for_each(CommandFilter::stop)
    }

    fn find(&self, label: &str) -> Option<&(ConvertCommand, CommandFilter)> {
        self.globs.matches(label).last().map(|last| &self.commands[*last])
    }
}

impl ConvertFiles for FileConverter {
    fn format(&self, label: &str) -> Option<FormatHint> {
        self.find(label).map(|(command, _)| command.format())
    }

    fn convert(&self, file: &FileToConvert<'_>) -> Result<Vec<u8>, String> {
        let (command, filter) = self.find(file.label).ok_or("no command matches")?;
        let name = filter.name();
        let mut question = vec![&b"convert"[..], command.line.as_bytes(), file.bytes];
        if !command.names_file() {
            let run = || answer(name, filter.run_bytes(file.bytes.to_vec(), &[]));
            return self.answers.get_or_ask(&question, run);
        }
        let Some(path) = file.path else {
            return Err(format!("{name:?} needs a file, and this is standard input"));
        };
        // A relative path could begin with a dash.
        let path = std::path::absolute(path).map_err(|error| error.to_string())?;
        // The command sees the name, so its output can depend on it.
        question.push(file.label.as_bytes());
        let variables = [(PATH_VARIABLE, path.as_os_str())];
        let run = || answer(name, filter.run_bytes(Vec::new(), &variables));
        self.answers.get_or_ask(&question, run)
    }
}

/// Returns the text that a command printed, or the reason for its failure. The command has read the
/// file, so its standard error can quote a secret, which is replaced before the rest is shortened.
fn answer(name: &str, output: Result<Vec<u8>, CommandError>) -> Result<Vec<u8>, String> {
    match output {
        Ok(text) if !text.trim_ascii().is_empty() => Ok(text),
        Ok(_) => Err(format!("{name:?} printed nothing")),
        Err(error @ CommandError::OutputTooLong { .. }) => {
            Err(format!("{error}; --max-file-size raises the limit"))
        }
        Err(CommandError::Failed { program, status, stderr }) => {
            let stderr = without_secrets(&stderr);
            Err(CommandError::Failed { program, status, stderr }.to_string())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Replaces the secrets in a message by markers.
fn without_secrets(message: &str) -> String {
    let secrets = lcp_secrets::find(message.as_bytes());
    let redacted = Redactor::default().redact(message.as_bytes(), &secrets);
    String::from_utf8_lossy(&redacted).into_owned()
}

#[cfg(test)]
mod tests;
