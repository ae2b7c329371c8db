//! The agents: where their configuration lives, and which entries LCP has in it.
//!
//! The places are those of their documentation in November 2026: `code.claude.com/docs/en/settings`,
//! `developers.openai.com/codex`, `cursor.com/docs/mcp`, `opencode.ai/docs/config`,
//! `geminicli.com/docs/reference/configuration`, `code.visualstudio.com/docs/agents/reference`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jsonc_parser::cst::CstInputValue;
use jsonc_parser::json;
use serde_json::Value;

use super::document::{EditError, Edited};
use super::{codex_toml, jsonc};
use crate::error::{Error, ErrorKind, Result};
use crate::folders;
use crate::hook::Event;

/// The name of the entries.
const NAME: &str = "lcp";

/// Seconds after which an agent stops a hook.
const HOOK_SECONDS: u32 = 10;

/// An agent with which LCP can be registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code: MCP server and hooks.
    ClaudeCode,
    /// Codex: MCP server and hooks.
    Codex,
    /// Cursor: MCP server.
    Cursor,
    /// opencode: MCP server.
    Opencode,
    /// Gemini CLI: MCP server.
    Gemini,
    /// Visual Studio Code: MCP server.
    VsCode,
}

/// A file with entries of LCP.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) path: PathBuf,
    entries: Entries,
}

/// The entries of LCP in a file.
#[derive(Debug)]
enum Entries {
    /// A member of an object of MCP servers, in JSON.
    Server { servers: &'static str, value: CstInputValue },
    /// A table of MCP servers, in TOML.
    CodexServer { program: String },
    /// Hooks, in JSON.
    Hooks { program: String },
}

impl Agent {
    /// All agents, with the names that users write.
    pub const NAMES: [(&'static str, Self); 6] = [
        ("claude-code", Self::ClaudeCode),
        ("codex", Self::Codex),
        ("cursor", Self::Cursor),
        ("opencode", Self::Opencode),
        ("gemini", Self::Gemini),
        ("vscode", Self::VsCode),
    ];

    /// Returns what the user does next, after a registration.
    #[must_use]
    pub const fn next_step(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::Gemini | Self::Opencode => "it applies to new sessions",
            Self::Codex => {
                "run `/hooks` in Codex to trust the hooks; the rest applies to new sessions"
            }
            Self::Cursor => "restart Cursor to start the server",
            Self::VsCode => "run `MCP: List Servers` in Visual Studio Code to start the server",
        }
    }

    /// Returns the files of the agent.
    pub(super) fn targets(
        self,
        program: &str,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Vec<Target>> {
        let folder =
            |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = || {
            folder(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).ok_or_else(|| {
                Error::new(ErrorKind::Io, "cannot find the user's home folder")
                    .with_hint("set HOME")
            })
        };
        let below_home = |name: &str, below: &str| match folder(name) {
            Some(folder) => Ok(folder),
            None => Ok::<_, Error>(home()?.join(below)),
        };
        let server = |path: PathBuf, servers, value| Target {
            path,
            entries: Entries::Server { servers, value },
        };
        let hooks = |path| Target { path, entries: Entries::Hooks { program: program.to_owned() } };
        Ok(match self {
            Self::ClaudeCode => {
                let value = json!({ "type": "stdio", "command": program, "args": ["mcp"] });
                vec![
                    server(
                        below_home("CLAUDE_CONFIG_DIR", "")?.join(".claude.json"),
                        "mcpServers",
                        value,
                    ),
                    hooks(below_home("CLAUDE_CONFIG_DIR", ".claude")?.join("settings.json")),
                ]
            }
            Self::Codex => {
                let folder = below_home("CODEX_HOME", ".codex")?;
                let entries = Entries::CodexServer { program: program.to_owned() };
                vec![
                    Target { path: folder.join("config.toml"), entries },
                    hooks(folder.join("hooks.json")),
                ]
            }
            Self::Cursor => {
                let args = editor_args();
                let value = json!({ "command": program, "args": args });
                vec![server(home()?.join(".cursor").join("mcp.json"), "mcpServers", value)]
            }
            Self::Opencode => {
                let value = json!({ "type": "local", "command": [program, "mcp"] });
                let folder = below_home("XDG_CONFIG_HOME", ".config")?.join("opencode");
                vec![server(opencode_file(&folder), "mcp", value)]
            }
            Self::Gemini => {
                let value = json!({ "command": program, "args": ["mcp"] });
                let folder = below_home("GEMINI_CLI_HOME", "")?.join(".gemini");
                vec![server(folder.join("settings.json"), "mcpServers", value)]
            }
            Self::VsCode => {
                let args = editor_args();
                let value = json!({ "type": "stdio", "command": program, "args": args });
                let settings =
                    if cfg!(windows) { folder("APPDATA") } else { folders::settings_dir(variable) };
                let folder =
                    settings.map_or_else(|| Ok(home()?.join(".config")), Ok::<_, Error>)?;
                vec![server(folder.join("Code").join("User").join("mcp.json"), "servers", value)]
            }
        })
    }
}

/// Returns the arguments of a server that an editor starts in another folder than that of the project.
fn editor_args() -> CstInputValue {
    json!(["mcp", "--root", "${workspaceFolder}"])
}

/// Returns the settings of opencode. It reads two names, and the one with comments last.
fn opencode_file(folder: &Path) -> PathBuf {
    let with_comments = folder.join("opencode.jsonc");
    if with_comments.exists() { with_comments } else { folder.join("opencode.json") }
}

impl Target {
    /// Adds the entries to a text, or returns `None` if they are there.
    pub(super) fn add(&self, text: &str) -> Result<Option<Edited>, EditError> {
        match &self.entries {
            Entries::Server { servers, value } => jsonc::set(text, &[servers], NAME, value),
            Entries::CodexServer { program } => codex_toml::set(text, program, &["mcp"]),
            Entries::Hooks { program } => {
                let mut edited: Option<Edited> = None;
                for event in Event::ALL {
                    let text = edited.as_ref().map_or(text, |edited| &edited.text);
                    let path = ["hooks", event.agent_name()];
                    let new =
                        jsonc::add_element(text, &path, &group(program, event), &is_own_hook)?;
                    edited = new.or(edited);
                }
                Ok(edited)
            }
        }
    }

    /// Removes the entries from a text.
    pub(super) fn remove(&self, text: &str) -> Result<Edited, EditError> {
        match &self.entries {
            Entries::Server { servers, .. } => jsonc::unset(text, &[servers], NAME),
            Entries::CodexServer { .. } => codex_toml::unset(text),
            Entries::Hooks { .. } => {
                let mut edited = Edited { text: text.to_owned(), replaces: false };
                for event in Event::ALL {
                    let path = ["hooks", event.agent_name()];
                    edited = jsonc::remove_elements(&edited.text, &path, &is_own_hook)?;
                }
                Ok(edited)
            }
        }
    }
}

/// Returns the entry of an event: the hook of LCP, and the condition for it.
fn group(program: &str, event: Event) -> CstInputValue {
    let command = format!("{} hook {}", quote(program), event.name());
    let hooks = json!([{ "type": "command", "command": command, "timeout": HOOK_SECONDS }]);
    // Sessions that begin otherwise need nothing back.
    if event == Event::SessionStart {
        json!({ "matcher": "compact", "hooks": hooks })
    } else {
        json!({ "hooks": hooks })
    }
}

/// Quotes a path for shells. Those of Windows only know double quotes, in which the shells of Unix
/// replace some characters.
fn quote(program: &str) -> String {
    if program.chars().all(|c| c.is_ascii_alphanumeric() || "_./-".contains(c)) {
        program.to_owned()
    } else if program.contains(['"', '$', '`', '!']) || program.contains(r"\\") {
        format!("'{}'", program.replace('\'', r"'\''"))
    } else {
        format!("\"{program}\"")
    }
}

/// Returns whether an entry has a hook of LCP and no other one.
fn is_own_hook(group: &Value) -> bool {
    let Some(hooks) = group["hooks"].as_array() else { return false };
    !hooks.is_empty()
        && hooks.iter().all(|hook| hook["command"].as_str().is_some_and(is_own_command))
}

fn is_own_command(command: &str) -> bool {
    let Some((program, event)) = command.rsplit_once(" hook ") else { return false };
    let program = program.trim_matches(['"', '\'']).rsplit(['/', '\\']).next().unwrap_or_default();
    let program = program.strip_suffix(".exe").unwrap_or(program);
    program == NAME && Event::from_name(event).is_some()
}
