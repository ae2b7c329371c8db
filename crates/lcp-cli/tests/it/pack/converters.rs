//! `--convert`: its flags, the user's own settings, and an interruption.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Output};

use super::{Folder, blocks, labels};
use crate::command::{LCP, printed, stderr};

const BINARY: &[u8] = b"\x7fELF\0\0\x01\x02";

/// Runs `pack` with a settings and a cache folder of its own.
fn run(folder: &Folder, home: &Path, arguments: &[&str]) -> Output {
    let arguments = [&["pack", "--no-tree"], arguments].concat();
    let mut command = LCP.command(&folder.path(""), &arguments);
    for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
        command.env(variable, home);
    }
    command.output().unwrap()
}

/// Writes the user's own settings.
fn write_settings(home: &Path, toml: &str) {
    let folder = if cfg!(target_os = "macos") { "Library/Application Support/lcp" } else { "lcp" };
    std::fs::create_dir_all(home.join(folder)).unwrap();
    std::fs::write(home.join(folder).join("config.toml"), toml).unwrap();
}

#[test]
fn converted_file_is_reported_and_tagged() {
    let folder = Folder::new(&[("a.rs", "fn a() {}\n")]);
    folder.write("paper one.pdf", BINARY);
    folder.write("bad.pdf", [BINARY, b"bad"].concat());
    let flags = ["--no-convert-cache", "--convert"];
    let line = "*.pdf=test $(wc -c < {}) -eq 8 && echo 'a=b'";
    let flags = [&flags[..], &[line]].concat();
    let output = folder.run(&flags);
    assert_eq!(labels(&blocks(&output)), ["rust a.rs", "plain paper one.pdf"]);
    let text = printed(&LCP.run_in(Path::new("."), &["render", "-"], &output.stdout));
    assert!(text.contains("a=b\n"), "{text}");
    let said = stderr(&output);
    assert!(said.contains("warning: bad.pdf: left out: ") && said.contains("exit status: 1"));
    assert!(said.contains("1 file left out: 1 not converted"), "{said}");
    let report = folder.report(&flags);
    assert_eq!(report["packed"][0]["converted"], serde_json::Value::Null);
    assert_eq!(report["packed"][1]["converted"], "pdf");
    assert_eq!(report["skipped"][0]["reason"], "not_converted");
    assert!(report["skipped"][0]["message"].as_str().unwrap().contains("exit status: 1"));
    assert!(report["warnings"][0].as_str().unwrap().starts_with("bad.pdf: left out: "));
}

#[test]
fn invalid_converter_flags_are_usage_errors() {
    let folder = Folder::new(&[("a.rs", "fn a() {}\n")]);
    for (value, wanted) in [
        ("pdftotext", "expected GLOB=COMMAND"),
        ("*.pdf=", "the command must not be empty"),
        ("[=cat", "invalid glob"),
        ("*.pdf=sh -c 'cat {}'", "in the quotes of a longer text"),
    ] {
        folder.fails(&["--convert", value], 2, wanted);
    }
    folder.fails(&["--convert-jobs", "257"], 2, "256");
    folder.fails(&["--convert-timeout", "0"], 2, "1..=3600");
}

#[test]
fn only_the_settings_of_the_user_can_set_commands() {
    let folder = Folder::new(&[("a.up", "abc"), ("b.up2", "abc")]);
    let home = tempfile::tempdir().unwrap();
    let packed = |arguments: &[&str]| {
        let output = run(&folder, home.path(), arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        printed(&LCP.run_in(Path::new("."), &["render", "-", "--mode", "minimal"], &output.stdout))
    };
    let settings = "[[pack.convert]]\nglob = '*.up*'\ncommand = 'tr a-z A-Z'\n";
    write_settings(home.path(), settings);
    assert_eq!(packed(&[]).matches("ABC").count(), 2);
    assert_eq!(packed(&["--no-config"]).matches("ABC").count(), 0);
    // Flags come after the settings.
    let text = packed(&["--convert", "*.up2=rev"]);
    assert!(text.contains("ABC") && text.contains("cba"), "{text}");

    write_settings(home.path(), "");
    folder.write("lcp.toml", settings);
    for arguments in [&[][..], &["--config", "lcp.toml"]] {
        let output = run(&folder, home.path(), arguments);
        assert_eq!(output.status.code(), Some(2));
        let wanted = "error: pack.convert: an lcp.toml cannot set commands, at line 1, column 8";
        let said = stderr(&output);
        assert!(said.starts_with(wanted) && said.contains("hint: pass --convert"), "{said}");
    }
    std::fs::remove_file(folder.path("lcp.toml")).unwrap();
    write_settings(home.path(), "[context]\n");
    let output = run(&folder, home.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("unknown key context"), "{}", stderr(&output));
}

#[test]
fn converted_texts_are_cached_below_the_cache_folder() {
    let folder = Folder::new(&[("a.x", "abc")]);
    let home = tempfile::tempdir().unwrap();
    let calls = home.path().join("calls");
    let converter = format!("*.x=echo x >> '{}'; cat", calls.display());
    let count = |arguments: &[&str]| {
        let output = run(&folder, home.path(), &[&["--convert", &converter], arguments].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        std::fs::read_to_string(&calls).unwrap().lines().count()
    };
    assert_eq!([count(&[]), count(&[]), count(&["--no-convert-cache"])], [1, 1, 2]);
    let caches = if cfg!(target_os = "macos") { "Library/Caches" } else { "" };
    assert!(home.path().join(caches).join("lcp/converted").is_dir());
}

#[test]
fn converters_run_as_many_at_once_as_jobs() {
    let folder = Folder::new(&[]);
    for number in 0..9 {
        folder.write(&format!("src/{number}.x"), number.to_string());
    }
    std::fs::create_dir(folder.path("started")).unwrap();
    // Each waits until all are there.
    let line = "*.x=touch started/$(cat)
        until [ \"$(ls started | wc -l)\" -ge 9 ]; do sleep 0.02; done; echo done";
    let flags = ["src", "--no-convert-cache", "--convert-jobs", "9", "--convert-timeout", "20"];
    let report = folder.report(&[&flags[..], &["--convert", line]].concat());
    assert_eq!(report["warnings"], serde_json::json!([]));
}

#[test]
fn ctrl_c_stops_running_converters() {
    let folder = Folder::new(&[("src/a.x", "abc")]);
    let made = Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(made.success());
    // A process that is not stopped writes to the pipe.
    let line = "*.x=exec 3>pipe; echo begun >&3; (sleep 20; echo late >&3) & wait";
    let arguments = ["pack", "--no-config", "src", "--no-convert-cache", "-o", "out.lcp"];
    let arguments = [&arguments[..], &["--convert", line]].concat();
    let mut child = LCP.command(&folder.path(""), &arguments).spawn().unwrap();
    let mut pipe = std::fs::File::open(folder.path("pipe")).unwrap();
    let mut begun = [0; 6];
    pipe.read_exact(&mut begun).unwrap();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut rest = String::new();
    pipe.read_to_string(&mut rest).unwrap();
    assert_eq!((&begun[..], rest.as_str()), (&b"begun\n"[..], ""));
    assert!(!folder.path("out.lcp").exists());
}
