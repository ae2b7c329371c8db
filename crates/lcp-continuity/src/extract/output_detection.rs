//! Detects text that programs write, or that is written for programs.

use super::sentences::lines;

/// Beginnings of lines of program output, in addition to locations, codes and banners.
const OUTPUT: [&str; 34] = [
    "Traceback (", "File \"", ">>> ", "$ ", "E  ", "--> ", "error[", "error:", "Error:", "ERROR ",
    "ERROR:", "warning:", "WARNING ", "WARNING:", "INFO ", "INFO:", "DEBUG ", "FATAL ", "FAILED ",
    "PASSED ", "fatal:", "panic:", "thread '", "goroutine ", "npm ERR!", "make:", "make[",
    "usage:", "Usage:", "collected ", "Compiling ", "Downloading ", "Collecting ",
    "Requirement already ",
];

/// Beginnings of lines that contain code or an edit.
const EDITS: [&str; 7] =
    ["```", "~~~", "<<<<<<<", "diff --git ", "@@ -", "+++ ", "*** Begin Patch"];

/// Returns whether a message contains code: a fence, a diff, or an edit.
pub(crate) fn has_code(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| EDITS.iter().any(|start| line.starts_with(start)))
}

/// Returns whether a turn consists only of commands for the chat program: each line is `/word …`. A
/// line that continues with a sentence (`/ask Why is it slow?`) is not such a command.
pub(crate) fn is_slash_command(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    lines.peek().is_some() && lines.all(is_command_line)
}

fn is_command_line(line: &str) -> bool {
    let Some(line) = line.strip_prefix('/') else { return false };
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'));
    let says = rest
        .trim_end()
        .strip_suffix(['.', '!', '?'])
        .is_some_and(|rest| rest.contains(' ') && rest.ends_with(char::is_alphanumeric));
    is_name && !says
}

/// Returns whether a line has no content: less than a third of it is letters and digits, or it is a
/// banner (`===`).
pub(crate) fn is_noise(line: &str) -> bool {
    let line = line.trim();
    let (mut alphanumeric, mut all) = (0_usize, 0_usize);
    for c in line.chars().filter(|c| !c.is_whitespace()) {
        all += 1;
        alphanumeric += usize::from(c.is_alphanumeric());
    }
    let frames = ["===", "---", "###", "~~~", "+++", "___", "***"];
    alphanumeric * 3 < all
        || line.starts_with("===")
        || line.starts_with("---")
        || ["=====", "-----"].iter().any(|rule| line.contains(rule))
        || frames.iter().any(|run| line.starts_with(run) && line.ends_with(run))
}

/// Returns whether a line begins with `path:line:column`, `path:line:`, or a code such as `E0502`.
pub(crate) fn is_diagnostic(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    is_code_location(word) || is_diagnostic_code(word.trim_end_matches(':'))
}

/// Returns whether a word is `path:12:5`, with or without a final colon, or `path:12:`.
fn is_code_location(word: &str) -> bool {
    let bare = word.trim_end_matches(':');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let Some((rest, _)) = bare.rsplit_once(':').filter(|(_, last)| is_number(last)) else {
        return false;
    };
    let (path, is_exact) = match rest.rsplit_once(':') {
        Some((path, line)) if is_number(line) => (path, true),
        _ => (rest, false),
    };
    path.contains(['.', '/', '\\'])
        && !path.contains("://")
        && (is_exact || bare.len() < word.len())
}

/// Returns whether a word is one to three capital letters and three or four digits.
fn is_diagnostic_code(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    (1..=3).contains(&(word.len() - digits.len()))
        && (3..=4).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Returns whether at least half of the lines, outside of fences and quotations, look like program
/// output.
pub(crate) fn is_output(text: &str) -> bool {
    let (mut output, mut all) = (0_usize, 0_usize);
    for line in lines(text) {
        all += 1;
        output += usize::from(is_output_line(line.text));
    }
    output * 2 >= all
}

fn is_output_line(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let is_failure = first.strip_suffix(':').is_some_and(|name| {
        ["Error", "Exception", "Warning"]
            .iter()
            .any(|end| name.len() > end.len() && name.ends_with(end))
    });
    let is_frame = first == "at" && line.ends_with(')');
    let is_stamped = first.len() >= 8
        && first.trim_start_matches('[').starts_with(|c: char| c.is_ascii_digit())
        && first.chars().all(|c| c.is_ascii_digit() || "-:.,TZ[]+/".contains(c));
    let is_tested = line.contains(" ... ") && line.ends_with(['k', 'D']);
    is_diagnostic(line)
        || is_noise(line)
        || OUTPUT.iter().any(|start| line.starts_with(start))
        || is_failure
        || is_frame
        || is_stamped
        || is_tested
}
