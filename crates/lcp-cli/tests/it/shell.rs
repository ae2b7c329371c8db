//! `completions`, `man`, and the help of every subcommand.

use std::process::{Command, Stdio};

use clap::CommandFactory;

use crate::command::{LCP, printed, run, run_with, stderr};
use crate::import::transcript;

#[test]
fn every_subcommand_has_examples() {
    let mut left: Vec<_> = vec![(vec!["lcp".to_owned()], lcp_cli::Cli::command())];
    let mut leaves = 0;
    while let Some((path, command)) = left.pop() {
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            let path = [&path[..], &[inner.get_name().to_owned()]].concat();
            left.push((path, inner.clone()));
        }
        if command.has_subcommands() {
            continue;
        }
        let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(after.contains("Example"), "{path:?} has no examples");
        assert!(after.contains("lcp "), "{path:?}: {after}");
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(!about.is_empty() && !about.ends_with('.'), "{path:?}: {about}");
        leaves += 1;
    }
    assert!(leaves >= 15);
}

#[test]
fn help_of_dedup_flags_fits_the_command() {
    for (command, default) in [("dedup", "overlap"), ("render", "off"), ("merge", "off")] {
        let help = printed(&run(&[command, "--help"]));
        let line = format!("Duplicates to remove [default: {default}]");
        assert!(help.contains(&line), "{help}");
        // Only some of the commands have this flag.
        let names_previous = help.split("--dedup-prefer").nth(1).unwrap().contains("--previous or");
        assert!(!names_previous, "{help}");
    }
}

#[test]
fn help_lists_subcommands_in_groups() {
    let help = printed(&run(&["--help"]));
    let at = |what: &str| help.find(what).unwrap_or_else(|| panic!("no {what}: {help}"));
    assert!(at("Create:") < at("\n  merge "));
    assert!(at("\n  merge ") < at("Render:") && at("Inspect:") < at("\n  inspect "));
    assert!(at("Shell:") < at("\n  completions ") && at("Usage: lcp") < at("Create:"));
    assert!(help.contains("--color"), "{help}");
    // The help of a subcommand does not use the template.
    assert!(printed(&run(&["inspect", "--help"])).contains("--no-tokens"));
}

#[test]
fn completions_are_generated_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(&run(&["completions", shell]));
        assert!(script.contains("inspect") && script.contains("no-tokens"), "{shell}");
    }
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("lcp.bash");
    std::fs::write(&script, run(&["completions", "bash"]).stdout).unwrap();
    let parsed = Command::new("bash").arg("-n").arg(&script).stderr(Stdio::piped()).output();
    if let Ok(parsed) = parsed {
        assert!(parsed.status.success(), "{}", stderr(&parsed));
    }
    assert_eq!(run(&["completions", "cmd"]).status.code(), Some(2));
}

#[test]
fn every_subcommand_has_a_man_page() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("man1");
    let to = dir.to_str().unwrap();
    assert!(run(&["man", "--dir", to]).status.success());
    let page = |name: &str| std::fs::read_to_string(dir.join(format!("{name}.1"))).unwrap();
    let command = lcp_cli::Cli::command();
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        let page = page(&format!("lcp-{}", inner.get_name()));
        assert!(page.contains("\"lcp ") && page.contains(".SH NAME"), "{page}");
    }
    assert!(
        page("lcp").contains("lcp\\-inspect(1)") && page("lcp-config").contains("\\-\\-budget")
    );
    assert_eq!(printed(&run(&["man", "config"])), page("lcp-config"));
    assert_eq!(printed(&run(&["man"])), page("lcp"));
    assert!(stderr(&run(&["man", "nothing"])).contains("unknown subcommand \"nothing\""));
    let before = page("lcp-render");
    assert!(run(&["man", "--dir", to]).status.success());
    assert_eq!(page("lcp-render"), before, "the same every time");
}

/// Whoever redirects it must know.
#[cfg(target_os = "linux")]
#[test]
fn unwritable_help_exits_with_1() {
    for arguments in [&["--help"][..], &["--version"], &["pack", "-h"], &["help", "render"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Command::new(LCP.0).args(arguments).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(stderr(&output).starts_with("error: cannot write standard output: "));
        assert!(run(arguments).status.success());
    }
}

#[cfg(unix)]
#[test]
fn write_error_names_the_requested_file() {
    for path in ["no/such/x.lcp", "/no/such/x at path.lcp"] {
        let output = run_with(&["import", "-", "-o", path], b"# Title\n");
        let wanted =
            format!("error: cannot write {path}: No such file or directory (os error 2)\n");
        assert_eq!((output.status.code(), stderr(&output)), (Some(1), wanted));
    }
}

#[test]
fn transcript_given_as_pack_gets_an_import_hint() {
    let message = r#"{"role":"user","content":"Hi."}"#;
    let read = |name| std::fs::read_to_string(transcript(name)).unwrap();
    let (session, gemini) = (read("claude-code.jsonl"), read("gemini-cli.jsonl"));
    for (text, format) in [
        (format!(r#"{{"messages":[{message}]}}"#), "openai-chat"),
        (format!("[{message}]"), "openai-chat"),
        (session, "claude-code"),
        (gemini, "gemini-cli"),
    ] {
        for command in [&["export", "-", "--to", "openai"][..], &["render", "-"]] {
            let output = run_with(command, text.as_bytes());
            let hint = format!(
                "hint: it looks like a transcript ({format}); convert it with `lcp import FILE`"
            );
            assert_eq!(output.status.code(), Some(3));
            assert!(stderr(&output).contains(&hint), "{}", stderr(&output));
        }
    }
    let manifest = r#"{"blocks":[{"type":"document","title":"a","content":"b"}]}"#;
    let said = stderr(&run_with(&["render", "-"], manifest.as_bytes()));
    assert!(said.contains("convert a manifest with `lcp encode`"), "{said}");
}

/// A provider takes none.
#[test]
fn export_rejects_a_tool_result_without_its_call() {
    let result = br#"{"content":[{"type":"text","text":"hello"}]}"#;
    let pack = run_with(&["import", "-", "--from", "mcp"], result).stdout;
    let output = run_with(&["export", "-", "--to", "openai"], &pack);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("hint: tool results without their calls cannot be exported"));
}
