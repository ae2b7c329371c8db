//! Infers the state of a session from its messages.

mod files;
mod shell;

use lcp_types::BlockContent;
use serde_json::Value;

use super::tool_calls::{Call, CallResults};
use crate::model::{Recorded, SessionState};

const MAX_FILES: usize = 20;
const MAX_COMMANDS: usize = 10;
const MAX_COMMAND: usize = 500;
const CUT: &str = " […]";

/// Words in the names of tools that run commands.
const SHELLS: [&str; 13] = [
    "bash", "shell", "sh", "zsh", "exec", "execute", "run", "terminal", "command", "cmd",
    "powershell", "pwsh", "console",
];

/// Returns the state of a session after these messages, oldest first, given the state before them
/// (RFC 0007 §6.4).
///
/// - Files: the paths of code, diffs, and documents with a path as title, and the paths given to
///   tools that read, write or edit files. The newest 20 are included.
/// - Commands: the commands given to shell tools, verbatim. The newest 10 are included, and long
///   ones are cut to 500 bytes and ` […]`. Commands that are only mentioned in turns are ignored.
/// - Working directory, branch and variables: from `cd`, `git checkout`, `git switch` and `export`
///   in commands, and from `cwd` and `workdir` of calls, if a result shows that the call succeeded.
///   The branch is also read from the output of git.
///
/// Variables whose names look like those of secrets (KEY, TOKEN, SECRET, PASSWORD and similar) are
/// left out, and so are commands that set them.
///
/// `before` is treated as older than all messages: a session that resumes a hand-off starts in its
/// directory, and variables that it unsets are removed.
///
/// ```
/// use lcp_continuity::extract::observed_state;
/// use lcp_continuity::{Message, Recorded, SessionState};
/// use lcp_types::Status;
///
/// let call = Message::tool_call("1", r#"{"name": "Bash", "input": {"command": "cd app && ls"}}"#);
/// let before = SessionState { working_directory: Some("/srv".into()), ..SessionState::default() };
/// let result = Message::tool_result("1", "Bash", Status::Ok, "main.rs");
/// let recorded = |message| Recorded { position: 0, epoch: 0, tokens: 9, message };
/// let messages = [recorded(call), recorded(result)];
/// let state = observed_state(&before, &messages);
/// assert_eq!(state.recent_commands, ["cd app && ls"]);
/// assert_eq!(state.working_directory.as_deref(), Some("/srv/app"));
/// ```
#[must_use]
pub fn observed_state(before: &SessionState, messages: &[Recorded]) -> SessionState {
    let results = CallResults::new(messages);
    let mut state = before.clone();
    truncate_to_newest(&mut state.active_files, MAX_FILES);
    truncate_to_newest(&mut state.recent_commands, MAX_COMMANDS);
    for (at, Recorded { message, .. }) in messages.iter().enumerate() {
        if let Some(call) = results.call(at) {
            if call.names_any(&SHELLS) {
                add_command(&call, &mut state.recent_commands);
            } else {
                files::add_from_call(&call, &mut state.active_files);
            }
        }
        if let Some(call) = results.succeeded(at).filter(|call| call.names_any(&SHELLS)) {
            apply_command(&call, &mut state);
        }
        if let BlockContent::ToolResult(result) = &message.block.content {
            let tool = Call::parse("", Some(&result.tool_name));
            if tool.names_any(&SHELLS) || tool.names_any(&["git"]) {
                shell::apply_output(&message.text(), &mut state);
            }
        }
        if let Some(path) = files::path_of_block(&message.block.content) {
            push_newest(&mut state.active_files, path, MAX_FILES);
        }
    }
    state
}

/// Adds the command of a shell call, unless it sets secrets.
fn add_command(call: &Call, commands: &mut Vec<String>) {
    let command = command(call).filter(|command| !shell::sets_secrets(command));
    if let Some(command) = command {
        push_newest(commands, cut(&command), MAX_COMMANDS);
    }
}

fn apply_command(call: &Call, state: &mut SessionState) {
    let directory = call.argument(&["cwd", "workdir", "working_directory", "working_dir"]);
    if let Some(Value::String(directory)) = directory {
        state.working_directory = Some(directory.clone());
    }
    if let Some(command) = command(call) {
        shell::apply_command(&command, state);
    }
}

fn command(call: &Call) -> Option<String> {
    let command = match (call.argument(&["command", "cmd", "script", "commands"]), &call.json) {
        (Some(Value::String(command)), _) => command.clone(),
        (Some(Value::Array(words)), _) => join_words(words),
        (None, None) => call.text.clone(),
        _ => return None,
    };
    Some(command.trim().to_owned()).filter(|command| !command.is_empty())
}

/// Joins a command that is given as words. If it runs a shell, returns the command of that shell.
fn join_words(words: &[Value]) -> String {
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [_, "-c" | "-lc" | "-ic" | "/C" | "/c" | "-Command", command] => (*command).to_owned(),
        words => words.join(" "),
    }
}

fn cut(command: &str) -> String {
    if command.len() <= MAX_COMMAND {
        return command.to_owned();
    }
    let end = (0..=MAX_COMMAND).rev().find(|at| command.is_char_boundary(*at)).unwrap_or(0);
    format!("{}{CUT}", &command[..end])
}

/// Adds `item` as the newest of a list without duplicates that has at most `max` items.
fn push_newest(list: &mut Vec<String>, item: String, max: usize) {
    list.retain(|known| *known != item);
    list.push(item);
    truncate_to_newest(list, max);
}

fn truncate_to_newest(list: &mut Vec<String>, max: usize) {
    list.drain(..list.len().saturating_sub(max));
}
