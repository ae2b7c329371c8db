//! Registrations in a folder that is the home of a user.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};

use super::{Agent, Plan, SetupOptions, document};
use crate::ErrorKind;

/// The home of a user.
pub(super) struct Home(tempfile::TempDir);

impl Home {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Creates a file, with its folder.
    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(super) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(super) fn plan(&self, agent: Agent, undo: bool) -> crate::Result<Plan> {
        self.plan_for("lcp", agent, undo)
    }

    /// Plans with the command that starts LCP.
    fn plan_for(&self, program: &str, agent: Agent, undo: bool) -> crate::Result<Plan> {
        let folder = |name: &str| Some(OsString::from(self.path(name)));
        let variable = |name: &str| match name {
            "HOME" | "USERPROFILE" => folder(""),
            "XDG_DATA_HOME" | "LOCALAPPDATA" => folder("data"),
            "XDG_CONFIG_HOME" | "APPDATA" => folder(".config"),
            _ => None,
        };
        SetupOptions { agent, undo, program, variable: &variable }.plan()
    }

    #[track_caller]
    pub(super) fn apply(&self, agent: Agent, undo: bool) -> Plan {
        let plan = self.plan(agent, undo).unwrap();
        plan.apply().unwrap();
        plan
    }
}

/// Registers with an agent that has this file. Then the file must have the expected text, a second
/// registration must change nothing, and an undo must restore the file.
#[track_caller]
fn check(agent: Agent, name: &str, before: Option<&str>, expected: &Expect) {
    let home = Home::new();
    if let Some(before) = before {
        home.write(name, before);
    }
    home.apply(agent, false);
    expected.assert_eq(&home.read(name));
    assert!(home.plan(agent, false).unwrap().changes().is_empty());
    home.apply(agent, true);
    match before {
        Some(before) => assert_eq!(home.read(name), before),
        None => assert!(!home.path(name).exists()),
    }
    assert!(home.plan(agent, true).unwrap().changes().is_empty());
}

#[test]
fn missing_files_are_created() {
    check(
        Agent::ClaudeCode,
        ".claude.json",
        None,
        &expect![[r#"
        {
          "mcpServers": {
            "lcp": {
              "type": "stdio",
              "command": "lcp",
              "args": ["mcp"]
            }
          }
        }
    "#]],
    );
    check(
        Agent::Codex,
        ".codex/config.toml",
        None,
        &expect![[r#"
        [mcp_servers.lcp]
        command = "lcp"
        args = ["mcp"]
    "#]],
    );
    check(
        Agent::Cursor,
        ".cursor/mcp.json",
        None,
        &expect![[r#"
        {
          "mcpServers": {
            "lcp": {
              "command": "lcp",
              "args": ["mcp", "--root", "${workspaceFolder}"]
            }
          }
        }
    "#]],
    );
    check(
        Agent::Opencode,
        ".config/opencode/opencode.json",
        None,
        &expect![[r#"
        {
          "mcp": {
            "lcp": {
              "type": "local",
              "command": ["lcp", "mcp"]
            }
          }
        }
    "#]],
    );
    check(
        Agent::Gemini,
        ".gemini/settings.json",
        None,
        &expect![[r#"
        {
          "mcpServers": {
            "lcp": {
              "command": "lcp",
              "args": ["mcp"]
            }
          }
        }
    "#]],
    );
}

#[test]
fn missing_hooks_are_created() {
    check(
        Agent::ClaudeCode,
        ".claude/settings.json",
        None,
        &expect![[r#"
        {
          "hooks": {
            "SessionStart": [
              {
                "matcher": "compact",
                "hooks": [
                  {
                    "type": "command",
                    "command": "lcp hook session-start",
                    "timeout": 10
                  }
                ]
              }
            ],
            "PreCompact": [
              {
                "hooks": [
                  {
                    "type": "command",
                    "command": "lcp hook pre-compact",
                    "timeout": 10
                  }
                ]
              }
            ],
            "SessionEnd": [
              {
                "hooks": [
                  {
                    "type": "command",
                    "command": "lcp hook session-end",
                    "timeout": 10
                  }
                ]
              }
            ]
          }
        }
    "#]],
    );
}

#[test]
fn hooks_of_others_and_comments_stay() {
    let before = r#"{
    // Mine.
    "hooks": {
        "PreCompact": [
            { "hooks": [{ "type": "command", "command": "mine pre" }] }, // stays
        ],
    },
    "model": "opus", /* the last */
}
"#;
    check(
        Agent::ClaudeCode,
        ".claude/settings.json",
        Some(before),
        &expect![[r#"
        {
            // Mine.
            "hooks": {
                "PreCompact": [
                    { "hooks": [{ "type": "command", "command": "mine pre" }] }, // stays
                    {
                        "hooks": [
                            {
                                "type": "command",
                                "command": "lcp hook pre-compact",
                                "timeout": 10,
                            },
                        ],
                    },
                ],
                "SessionStart": [
                    {
                        "matcher": "compact",
                        "hooks": [
                            {
                                "type": "command",
                                "command": "lcp hook session-start",
                                "timeout": 10
                            }
                        ]
                    }
                ],
                "SessionEnd": [
                    {
                        "hooks": [
                            {
                                "type": "command",
                                "command": "lcp hook session-end",
                                "timeout": 10
                            }
                        ]
                    }
                ],
            },
            "model": "opus", /* the last */
        }
    "#]],
    );
}

#[test]
fn servers_of_others_and_comments_stay() {
    let before = "{\n\t// Servers.\n\t\"servers\": {\n\t\t\"a\": { \"command\": \"a\" }\n\t},\n\t\"inputs\": []\n}";
    let name = if cfg!(target_os = "macos") {
        "Library/Application Support/Code/User/mcp.json"
    } else {
        ".config/Code/User/mcp.json"
    };
    check(
        Agent::VsCode,
        name,
        Some(before),
        &expect![[r#"
        {
        	// Servers.
        	"servers": {
        		"a": { "command": "a" },
        		"lcp": {
        			"type": "stdio",
        			"command": "lcp",
        			"args": ["mcp", "--root", "${workspaceFolder}"]
        		}
        	},
        	"inputs": []
        }"#]],
    );
    let before = "{ \"mcpServers\": {}, \"theme\": 1.50 }";
    check(
        Agent::Gemini,
        ".gemini/settings.json",
        Some(before),
        &expect![[r#"
        { "mcpServers": {
            "lcp": {
              "command": "lcp",
              "args": ["mcp"]
            }
          }, "theme": 1.50 }"#]],
    );
}

#[test]
fn tables_of_toml_stay() {
    let before = "# Mine\nmodel = 'o3' # quoted so\n\n[mcp_servers.a]\ncommand = \"a\"\nargs = [\n  \"x\", # y\n]\n\n[tui]\nnotifications=true\n";
    check(
        Agent::Codex,
        ".codex/config.toml",
        Some(before),
        &expect![[r##"
        # Mine
        model = 'o3' # quoted so

        [mcp_servers.a]
        command = "a"
        args = [
          "x", # y
        ]

        [mcp_servers.lcp]
        command = "lcp"
        args = ["mcp"]

        [tui]
        notifications=true
    "##]],
    );
    let before = "mcp_servers = { a = { command = \"a\" } }\n";
    check(
        Agent::Codex,
        ".codex/config.toml",
        Some(before),
        &expect![[r#"
        mcp_servers = { a = { command = "a" } , lcp = { command = "lcp", args = ["mcp"] } }
    "#]],
    );
}

#[test]
fn byte_order_mark_and_line_ends_stay() {
    let before = "\u{feff}{\r\n  \"mcpServers\": {\r\n    \"a\": {}\r\n  }\r\n}\r\n";
    let home = Home::new();
    home.write(".cursor/mcp.json", before);
    home.apply(Agent::Cursor, false);
    let after = home.read(".cursor/mcp.json");
    assert!(after.starts_with('\u{feff}') && after.contains("\"lcp\""), "{after:?}");
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
    home.apply(Agent::Cursor, true);
    assert_eq!(home.read(".cursor/mcp.json"), before);
    home.write(".codex/config.toml", "a = 1\r\n\r\n[b]\r\n");
    home.apply(Agent::Codex, false);
    let after = home.read(".codex/config.toml");
    assert!(after.contains("[mcp_servers.lcp]\r\n"), "{after:?}");
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
}

/// `toml_edit` prints these documents in another way.
#[test]
fn tables_are_appended_where_an_edit_would_change_other_lines() {
    for before in ["a = 1\r\nb = 2\n", "d.e = 1\nf = 2\nd.g = 3\n"] {
        let home = Home::new();
        home.write(".codex/config.toml", before);
        home.apply(Agent::Codex, false);
        let after = home.read(".codex/config.toml");
        let entry = "\n[mcp_servers.lcp]\ncommand = \"lcp\"\nargs = [\"mcp\"]\n";
        assert_eq!(after, format!("{before}{entry}"));
        assert!(home.plan(Agent::Codex, false).unwrap().changes().is_empty());
        home.write(".codex/config.toml", &format!("{after}[h]\n"));
        home.apply(Agent::Codex, true);
        assert_eq!(home.read(".codex/config.toml"), format!("{before}[h]\n"));
        home.write(".codex/config.toml", &format!("{before}mcp_servers.lcp.command = 'mine'\n"));
        let error = home.plan(Agent::Codex, false).unwrap_err();
        assert!(error.message.contains("change of other lines"), "{error}");
    }
}

#[test]
fn other_entry_of_the_same_name_is_replaced_with_a_note() {
    let home = Home::new();
    let before = "{\"mcpServers\": {\"lcp\": {\"command\": \"other\"}}}";
    home.write(".cursor/mcp.json", before);
    let plan = home.apply(Agent::Cursor, false);
    let note = plan.changes()[0].note.as_deref().unwrap();
    assert!(note.contains("another entry `lcp`"), "{note}");
    assert!(!home.read(".cursor/mcp.json").contains("other"));
    home.apply(Agent::Cursor, true);
    assert_eq!(home.read(".cursor/mcp.json"), before);
}

#[test]
fn undo_after_a_registration_with_another_path_restores_the_first_bytes() {
    for (agent, name, before) in [
        (Agent::Cursor, ".cursor/mcp.json", "{\"a\": 1}"),
        (Agent::Codex, ".codex/config.toml", "a = 1\n"),
        (Agent::ClaudeCode, ".claude/settings.json", "{\"a\": 1}"),
    ] {
        let home = Home::new();
        home.write(name, before);
        home.plan_for("/a/lcp", agent, false).unwrap().apply().unwrap();
        home.apply(agent, false);
        assert!(!home.read(name).contains("/a/lcp"), "{}", home.read(name));
        home.apply(agent, true);
        assert_eq!(home.read(name), before);
    }
}

#[test]
fn undo_leaves_files_that_lcp_has_not_written() {
    let home = Home::new();
    let own = r#"{"mcpServers":{"lcp":{"type":"stdio","command":"lcp","args":["mcp"],"env":{}}}}"#;
    home.write(".claude.json", own);
    home.apply(Agent::ClaudeCode, false);
    let plan = home.apply(Agent::ClaudeCode, true);
    assert_eq!(plan.changes().len(), 1, "only hooks: {plan:?}");
    assert_eq!(home.read(".claude.json"), own);
}

#[test]
fn paths_in_hooks_are_quoted() {
    for (program, command) in [
        ("/opt/my-lcp_1.0/lcp", "/opt/my-lcp_1.0/lcp"),
        ("/a b/lcp", r#""/a b/lcp""#),
        (r"C:\Users\x\lcp.exe", r#""C:\Users\x\lcp.exe""#),
        (r"\\server\x\lcp.exe", r"'\\server\x\lcp.exe'"),
        ("/home/o'brien/bin/lcp", r#""/home/o'brien/bin/lcp""#),
        ("/a'b$c/lcp", r"'/a'\''b$c/lcp'"),
    ] {
        let home = Home::new();
        let plan = || home.plan_for(program, Agent::ClaudeCode, false).unwrap();
        plan().apply().unwrap();
        let settings: serde_json::Value =
            serde_json::from_str(&home.read(".claude/settings.json")).unwrap();
        let written = settings["hooks"]["SessionEnd"][0]["hooks"][0]["command"].as_str();
        assert_eq!(written, Some(format!("{command} hook session-end").as_str()));
        // They are known as hooks of LCP.
        home.write(".claude/settings.json", &format!("{} ", home.read(".claude/settings.json")));
        home.apply(Agent::ClaudeCode, true);
        assert!(!home.path(".claude/settings.json").exists(), "{program}");
    }
}

#[test]
fn entry_with_more_fields_is_left_alone() {
    let home = Home::new();
    let own =
        r#"{"mcpServers":{"lcp":{"type":"stdio","command":"lcp","args":["mcp"],"env":{"A":"b"}}}}"#;
    home.write(".claude.json", own);
    let plan = home.plan(Agent::ClaudeCode, false).unwrap();
    assert_eq!(plan.changes().len(), 1, "only hooks: {plan:?}");
    home.write(
        ".codex/config.toml",
        "[mcp_servers.lcp]\ncommand='lcp'\nargs=['mcp']\nenabled=false\n",
    );
    let plan = home.plan(Agent::Codex, false).unwrap();
    assert_eq!(plan.changes()[0].path, home.path(".codex/hooks.json"));
}

#[test]
fn undo_after_other_changes_removes_only_entries_of_lcp() {
    let home = Home::new();
    home.write(".claude/settings.json", "{\n  \"a\": 1\n}\n");
    home.apply(Agent::ClaudeCode, false);
    let changed = home.read(".claude/settings.json").replace("\"a\": 1", "\"a\": 2");
    home.write(".claude/settings.json", &changed);
    let changed =
        home.read(".claude.json").replace("{\n  \"mcp", "{\n  \"userID\": \"u\",\n  \"mcp");
    home.write(".claude.json", &changed);
    let plan = home.apply(Agent::ClaudeCode, true);
    let notes = plan.changes().iter().map(|change| change.note.as_deref().unwrap());
    assert!(notes.into_iter().all(|note| note.contains("has changed since")), "{plan:?}");
    assert_eq!(home.read(".claude/settings.json"), "{\n  \"a\": 2\n}\n");
    assert_eq!(home.read(".claude.json"), "{\n  \"userID\": \"u\"\n}\n");
}

#[test]
fn new_file_that_only_has_entries_of_lcp_is_removed_even_if_it_changed() {
    let home = Home::new();
    home.apply(Agent::Cursor, false);
    let changed = home.read(".cursor/mcp.json").replace("  ", "    ");
    home.write(".cursor/mcp.json", &changed);
    home.apply(Agent::Cursor, true);
    assert!(!home.path(".cursor/mcp.json").exists());
}

#[test]
fn invalid_files_are_errors_with_a_line_and_stay() {
    let home = Home::new();
    for (agent, name, text, says) in [
        (Agent::Cursor, ".cursor/mcp.json", "{\n  \"a\": tru\n}", "line 2, column 8"),
        (Agent::Cursor, ".cursor/mcp.json", "{\n  'a': 1\n}", "line 2"),
        (Agent::Cursor, ".cursor/mcp.json", "[]", "the file is not an object"),
        (Agent::Cursor, ".cursor/mcp.json", "{\"mcpServers\": 1}", "`mcpServers` is not an object"),
        (Agent::Codex, ".codex/config.toml", "a = 1\nb = [\n", "line 2"),
        (Agent::Codex, ".codex/config.toml", "mcp_servers = 1\n", "`mcp_servers` is not a table"),
        (
            Agent::ClaudeCode,
            ".claude/settings.json",
            "{\"hooks\": {\"PreCompact\": {}}}",
            "`hooks.PreCompact` is not an array",
        ),
    ] {
        home.write(name, text);
        let error = home.plan(agent, false).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Malformed, "{text}");
        assert!(error.message.contains(says), "{text}: {error}");
        assert!(error.message.contains(name.rsplit('/').next().unwrap()), "{error}");
        assert_eq!(home.read(name), text);
    }
    assert!(!home.path(".claude.json").exists(), "nothing is written before all files are read");
}

#[test]
fn file_that_changes_meanwhile_is_not_written() {
    let home = Home::new();
    home.write(".cursor/mcp.json", "{}");
    let plan = home.plan(Agent::Cursor, false).unwrap();
    home.write(".cursor/mcp.json", "{ }");
    let error = plan.apply().unwrap_err();
    assert!(error.message.contains("has changed meanwhile"), "{error}");
    assert_eq!(home.read(".cursor/mcp.json"), "{ }");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn links_and_permissions_stay() {
        let home = Home::new();
        home.write("dotfiles/mcp.json", "{}\n");
        std::fs::set_permissions(home.path("dotfiles/mcp.json"), PermissionsExt::from_mode(0o600))
            .unwrap();
        std::fs::create_dir(home.path(".cursor")).unwrap();
        symlink("../dotfiles/mcp.json", home.path(".cursor/mcp.json")).unwrap();
        home.apply(Agent::Cursor, false);
        assert!(home.path(".cursor/mcp.json").is_symlink());
        assert!(home.read("dotfiles/mcp.json").contains("workspaceFolder"));
        assert_eq!(mode(&home.path("dotfiles/mcp.json")), 0o600);
        assert_eq!(mode(&home.path("data/lcp/setup")), 0o700);
        home.apply(Agent::Cursor, true);
        assert_eq!(home.read("dotfiles/mcp.json"), "{}\n");
        assert_eq!(mode(&home.path("dotfiles/mcp.json")), 0o600);
    }

    #[test]
    fn only_the_user_can_read_new_files() {
        let home = Home::new();
        home.apply(Agent::ClaudeCode, false);
        assert_eq!(mode(&home.path(".claude.json")), 0o600);
        assert_eq!(mode(&home.path(".claude/settings.json")), 0o600);
    }

    #[test]
    fn read_only_files_and_dangling_links_are_errors_before_anything_is_written() {
        let home = Home::new();
        home.write(".claude/settings.json", "{}");
        let path = home.path(".claude/settings.json");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o444)).unwrap();
        let error = home.plan(Agent::ClaudeCode, false).unwrap().apply().unwrap_err();
        assert!(error.message.contains("settings.json"), "{error}");
        assert!(!home.path(".claude.json").exists());
        std::fs::create_dir(home.path(".cursor")).unwrap();
        symlink("missing.json", home.path(".cursor/mcp.json")).unwrap();
        let error = home.plan(Agent::Cursor, false).unwrap().apply().unwrap_err();
        assert!(error.hint.unwrap().contains("link"));
        assert!(home.path(".cursor/mcp.json").is_symlink());
    }
}

#[test]
fn empty_documents_are_recognized() {
    for empty in ["", " \r\n", "{}", "\u{feff}{\n}\n"] {
        assert!(document::is_empty(empty), "{empty:?}");
    }
    for full in ["{\"a\":1}", "{ // comment\n}", "[]", "a = 1"] {
        assert!(!document::is_empty(full), "{full:?}");
    }
}
