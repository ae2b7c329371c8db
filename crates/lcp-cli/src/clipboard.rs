//! The clipboard (RFC 0013 §6): a command of the platform, or over SSH the terminal.
//!
//! On X11 and Wayland, a clipboard is a running process that answers requests. A library within
//! this process would lose the text at its end. The commands start such a process.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lcp_app::{Error, ErrorKind};

use crate::Result;

/// Commands that copy their standard input, and their arguments. The first that succeeds is used.
const COMMANDS: [(&str, &[&str]); 5] = [
    ("pbcopy", &[]),
    ("wl-copy", &[]),
    ("xclip", &["-selection", "clipboard"]),
    ("xsel", &["--clipboard", "--input"]),
    (CLIP_EXE, &[]),
];

/// The command of Windows, which also exists in its subsystem for Linux.
const CLIP_EXE: &str = "clip.exe";

/// The environment variables of a session over SSH.
const SSH: [&str; 2] = ["SSH_CONNECTION", "SSH_TTY"];

/// The size in bytes up to which all terminals accept an escape sequence.
const SEQUENCE_BYTES: usize = 100_000;

/// The way in which a text was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copied {
    /// By this command.
    ByCommand(&'static str),
    /// By an escape sequence, to which terminals don't reply.
    ByTerminal {
        /// `true` if some terminals ignore sequences of this size.
        is_long: bool,
    },
}

/// Copies a text to the clipboard of the user.
///
/// # Errors
///
/// Returns an error if there is no command that succeeds or, over SSH, no terminal.
pub(crate) fn copy(text: &str) -> Result<Copied> {
    let is_set = |name: &&str| env::var_os(name).is_some_and(|value| !value.is_empty());
    if SSH.iter().any(is_set) {
        return copy_by_terminal(text);
    }
    let mut failed = Vec::new();
    for (name, arguments) in COMMANDS {
        match run(name, arguments, text) {
            Ok(()) => return Ok(Copied::ByCommand(name)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => failed.push(format!("{name}: {error}")),
        }
    }
    let message = match failed.as_slice() {
        [] => "cannot copy the text: found no command for the clipboard".to_owned(),
        failed => format!("cannot copy the text: {}", failed.join(", ")),
    };
    let commands: Vec<_> = COMMANDS.iter().map(|(name, _)| *name).collect();
    let hint = format!("install one of {}, or write a file with -o", commands.join(", "));
    Err(Error::new(ErrorKind::Io, message).with_hint(hint))
}

/// Runs a command with the text as its standard input. The other streams are closed, because the
/// process that keeps the text would hold them open.
fn run(name: &str, arguments: &[&str], text: &str) -> io::Result<()> {
    let mut command = Command::new(name);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let written = child.stdin.take().map_or(Ok(()), |mut stdin| {
        if name == CLIP_EXE {
            stdin.write_all(&utf_16(text))
        } else {
            stdin.write_all(text.as_bytes())
        }
    });
    let status = child.wait()?;
    if !status.success() {
        return Err(io::Error::other(status.to_string()));
    }
    written
}

/// Returns the text in UTF-16 with a byte-order mark. `clip.exe` reads other text in the character
/// set of the console.
fn utf_16(text: &str) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

/// Sends the text to the terminal by the escape sequence OSC 52.
fn copy_by_terminal(text: &str) -> Result<Copied> {
    let sequence = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
    let stderr = io::stderr();
    let sent = if stderr.is_terminal() {
        let mut stderr = stderr.lock();
        stderr.write_all(sequence.as_bytes()).and_then(|()| stderr.flush())
    } else {
        let terminal = OpenOptions::new().write(true).open("/dev/tty");
        terminal.and_then(|mut terminal| terminal.write_all(sequence.as_bytes()))
    };
    sent.map(|()| Copied::ByTerminal { is_long: sequence.len() > SEQUENCE_BYTES }).map_err(
        |error| {
            let message = format!("cannot copy the text over SSH: no terminal ({error})");
            let hint = "run the command in a terminal, or write a file with -o";
            Error::new(ErrorKind::Io, message).with_hint(hint)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_for_windows_is_utf_16_with_a_byte_order_mark() {
        assert_eq!(utf_16("a😀"), [0xff, 0xfe, 0x61, 0, 0x3d, 0xd8, 0, 0xde]);
    }
}
