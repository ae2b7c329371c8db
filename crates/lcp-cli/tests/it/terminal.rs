//! Standard streams that are terminals, and the clipboard.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::command::{LCP, printed, run, run_with, sample, stderr};

const NOTICE: &str = "reading from the terminal; end with Ctrl-D\n";

/// Opens a terminal: its end for a user, and its end for a process.
pub(crate) fn terminal() -> (File, File) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let of_process = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    (File::from(terminal), of_process)
}

/// Runs the command with a terminal as its standard input, in which these lines and Ctrl-D are
/// typed.
fn run_in_terminal(arguments: &[&str], lines: &str) -> Output {
    let (mut keyboard, input) = terminal();
    keyboard.write_all(lines.as_bytes()).unwrap();
    keyboard.write_all(b"\x04").unwrap();
    let mut command = Command::new(LCP.0);
    command.args(arguments).stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap().wait_with_output().unwrap()
}

#[test]
fn reading_from_a_terminal_is_announced() {
    let output = run_in_terminal(&["count", "-"], "a word\n");
    assert_eq!((printed(&output).as_str(), stderr(&output).as_str()), ("3 -\n", NOTICE));
    let output = run_in_terminal(&["pack", "-", "--no-tree", "--no-config"], "a word\n");
    assert!(output.stdout.starts_with(b"LCP"), "{}", stderr(&output));
    assert!(stderr(&output).starts_with(NOTICE), "{}", stderr(&output));
    assert_eq!(stderr(&run_in_terminal(&["-q", "count", "-"], "a word\n")), "");
}

#[cfg(feature = "mcp")]
#[test]
fn mcp_on_a_terminal_is_announced() {
    let output = run_in_terminal(&["mcp"], "");
    assert!(stderr(&output).starts_with(NOTICE), "{}", stderr(&output));
}

#[test]
fn reading_from_a_pipe_is_not_announced() {
    assert_eq!(stderr(&run_with(&["count", "-"], b"a word\n")), "");
}

/// Renders a pack with `--copy`. The folder is the only one in which commands are searched for.
fn copying(pack: &str, folder: &Path) -> Command {
    let mut command = Command::new(LCP.0);
    command.args(["render", pack, "--copy", "--budget", "900", "--no-config"]);
    command.env("PATH", folder).env_remove("SSH_CONNECTION").env_remove("SSH_TTY");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Writes a command that runs this line of a shell.
fn write_command(folder: &Path, name: &str, line: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{line}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn text_is_copied_by_the_first_command_that_works() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let pack = sample("session.lcp");
    let text = printed(&run(&["render", &pack, "--budget", "900", "--no-config", "-q"]));

    let none = copying(&pack, at).output().unwrap();
    assert_eq!((none.status.code(), none.stdout.as_slice()), (Some(1), &b""[..]));
    assert_eq!(
        stderr(&none),
        "error: cannot copy the text: found no command for the clipboard\nhint: install one of \
         pbcopy, wl-copy, xclip, xsel, clip.exe, or write a file with -o\n"
    );

    // Without a Wayland server, wl-copy fails. It may not even read the text.
    write_command(at, "wl-copy", "exit 3");
    let failed = copying(&pack, at).output().unwrap();
    assert_eq!(failed.status.code(), Some(1));
    let message = "error: cannot copy the text: wl-copy: exit status: 3\n";
    assert!(stderr(&failed).starts_with(message), "{}", stderr(&failed));

    let copy = at.join("copy");
    let line = format!("echo \"$@\" > {0}.arguments; exec /bin/cat > {0}", copy.display());
    write_command(at, "xclip", &line);
    write_command(at, "xsel", "exit 3");
    let copied = copying(&pack, at).output().unwrap();
    assert_eq!((copied.status.code(), printed(&copied).as_str()), (Some(0), ""));
    assert!(stderr(&copied).contains(" tokens to the clipboard (xclip)\n"), "{}", stderr(&copied));
    assert_eq!(fs::read_to_string(&copy).unwrap(), text);
    assert_eq!(fs::read_to_string(at.join("copy.arguments")).unwrap(), "-selection clipboard\n");
}

#[test]
fn text_is_copied_by_the_terminal_over_ssh() {
    let folder = tempfile::tempdir().unwrap();
    // It must not be used: its clipboard is that of another machine.
    write_command(folder.path(), "pbcopy", "exec /bin/cat > /dev/null");
    let pack = sample("session.lcp");
    let text = printed(&run(&["render", &pack, "--budget", "900", "--no-config", "-q"]));
    let (mut screen, stderr) = terminal();
    let mut command = copying(&pack, folder.path());
    let mut child = command.env("SSH_TTY", "/dev/pts/9").stderr(stderr).spawn().unwrap();
    drop(command);
    let mut shown = Vec::new();
    // Reading from a terminal without a process is an error.
    let _ = screen.read_to_end(&mut shown);
    assert!(child.wait().unwrap().success());
    let shown = String::from_utf8(shown).unwrap();
    let (_, sequence) = shown.split_once("\x1b]52;c;").unwrap();
    let (encoded, rest) = sequence.split_once('\x07').unwrap();
    assert_eq!(STANDARD.decode(encoded).unwrap(), text.as_bytes());
    assert!(rest.contains(" tokens to the clipboard of the terminal (OSC 52)"), "{rest}");
}
