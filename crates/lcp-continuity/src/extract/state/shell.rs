//! The effects of shell commands on the state of a session.

use crate::model::SessionState;

const SECRETS: [&str; 11] = [
    "KEY", "TOKEN", "SECRET", "PASS", "PWD", "CREDENTIAL", "AUTH", "PRIVATE", "COOKIE", "DSN",
    "SIGNATURE",
];

const MAX_VARIABLES: usize = 64;
const MAX_VALUE: usize = 256;

/// Returns whether `command` sets a variable whose name looks like that of a secret.
pub(super) fn sets_secrets(command: &str) -> bool {
    let mut words = simple_commands(command).into_iter().flatten();
    words.any(|word| assigned_name(&word).is_some_and(is_secret))
}

/// Applies the effects of `command` to the state.
pub(super) fn apply_command(command: &str, state: &mut SessionState) {
    for words in simple_commands(command) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["cd"] => state.working_directory = Some("~".to_owned()),
            ["cd" | "pushd", to] => change_directory(to, state),
            ["git", arguments @ ..] => git(arguments, state),
            ["export", variables @ ..] => export(variables, state),
            ["unset", names @ ..] => {
                for name in names {
                    state.variables.remove(*name);
                }
            }
            _ => {}
        }
    }
}

/// Applies the branch that git reports to the state.
pub(super) fn apply_output(text: &str, state: &mut SessionState) {
    for line in text.lines() {
        let quoted = |mark| line.strip_prefix(mark).and_then(|rest| rest.split('\'').next());
        let branch = line
            .strip_prefix("On branch ")
            .or_else(|| quoted("Switched to branch '"))
            .or_else(|| quoted("Switched to a new branch '"))
            .or_else(|| quoted("Already on '"));
        if let Some(branch) = branch.map(str::trim).filter(|branch| is_branch(branch)) {
            state.branch = Some(branch.to_owned());
        }
    }
}

/// Splits a command line into commands, as words without their quotes.
fn simple_commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        let is_end = quote.is_none() && matches!(c, ';' | '&' | '|' | '\n');
        if is_end || quote.is_none() && c.is_whitespace() {
            if let Some(command) = commands.last_mut() {
                command.extend(word.take());
            }
            if is_end {
                commands.push(Vec::new());
            }
            continue;
        }
        let word = word.get_or_insert_default();
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None | Some('"'), '\\') => word.extend(chars.next().filter(|next| *next != '\n')),
            _ => word.push(c),
        }
    }
    if let Some(command) = commands.last_mut() {
        command.extend(word);
    }
    commands.retain(|command| !command.is_empty());
    commands
}

fn change_directory(to: &str, state: &mut SessionState) {
    if to == "-" || to.contains(['$', '`', '*']) {
        // Only the shell knows the resulting directory.
        state.working_directory = None;
        return;
    }
    let is_drive = to.as_bytes().get(1) == Some(&b':');
    let base = match &state.working_directory {
        Some(base) if !to.starts_with(['/', '~', '\\']) && !is_drive => base.as_str(),
        _ => "",
    };
    let root = if base.is_empty() { to } else { base };
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(to.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, ".." | "~")) => {
                parts.pop();
            }
            ".." if root.starts_with('/') => {}
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    state.working_directory = if root.starts_with('/') {
        Some(format!("/{path}"))
    } else {
        Some(path).filter(|path| !path.is_empty())
    };
}

fn git(arguments: &[&str], state: &mut SessionState) {
    let mut arguments = arguments;
    while let [option, rest @ ..] = arguments {
        if !option.starts_with('-') {
            break;
        }
        // `-C` and `-c` take an argument.
        arguments =
            if matches!(*option, "-C" | "-c") { rest.get(1..).unwrap_or_default() } else { rest };
    }
    let [command @ ("checkout" | "switch"), rest @ ..] = arguments else { return };
    let is_new = rest
        .iter()
        .any(|word| matches!(*word, "-b" | "-B" | "-c" | "-C" | "--create" | "--orphan"));
    let names: Vec<&&str> = rest.iter().filter(|word| !word.starts_with('-')).collect();
    let names_files = rest.contains(&"--") || names.len() > 1;
    let Some(name) = names.first().filter(|name| is_branch(name)) else { return };
    // `git checkout` with one word may refer to a file or a commit.
    let is_other = *command == "checkout" && (names_files || is_file_or_commit(name));
    let is_detached = rest.iter().any(|word| matches!(*word, "-d" | "--detach" | "-p" | "--patch"));
    if is_new || !is_other && !is_detached {
        state.branch = Some((**name).to_owned());
    }
}

fn is_branch(name: &str) -> bool {
    let refused = ['~', '^', ':', '?', '*', '[', '\\', '$', '`', '<', '>', '(', ')'];
    (1..=200).contains(&name.len())
        && !name.contains(|c: char| c.is_whitespace() || c.is_control())
        && !name.contains(refused)
        && !name.starts_with(['-', '.', '/'])
        && !matches!(name, "HEAD" | "@")
}

fn is_file_or_commit(name: &str) -> bool {
    let is_commit = (7..=40).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_hexdigit());
    let extension = name.rsplit('/').next().and_then(|name| name.rsplit_once('.'));
    let is_file = extension.is_some_and(|(_, extension)| {
        !extension.is_empty() && extension.bytes().all(|b| b.is_ascii_alphabetic())
    });
    is_commit || is_file || name.ends_with('/')
}

fn export(variables: &[&str], state: &mut SessionState) {
    for variable in variables {
        let (Some(name), Some((_, value))) = (assigned_name(variable), variable.split_once('='))
        else {
            continue;
        };
        // An address with a user name and a password is a secret too.
        let is_hidden = value.contains("$(")
            || value.contains('`')
            || value.contains("://") && value.contains('@');
        let fits = value.len() <= MAX_VALUE && !is_hidden;
        let has_room = state.variables.len() < MAX_VARIABLES || state.variables.contains_key(name);
        if fits && has_room && !is_secret(name) {
            state.variables.insert(name.to_owned(), value.to_owned());
        }
    }
}

fn assigned_name(word: &str) -> Option<&str> {
    let (name, _) = word.split_once('=')?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then_some(name)
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRETS.iter().any(|part| name.contains(part))
}
