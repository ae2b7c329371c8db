//! Former names of commands, flags and values: each still works, and help shows the new one only.

use crate::command::{LCP, printed, run};
use lcp_testkit::cli_harness::sample;

#[test]
fn former_commands_and_flags_give_the_same_output() {
    let session = sample("session.lcp");
    let pairs: &[(&[&str], &[&str])] = &[
        (&["budget", "show", "--json"], &["config", "--json"]),
        (
            &["render", &session, "--dedup", "exact", "--dedup-keep", "first"],
            &["render", &session, "--dedup", "exact", "--dedup-prefer", "first"],
        ),
        (
            &["render", &session, "--special-tokens", "neutralise"],
            &["render", &session, "--special-tokens", "escape"],
        ),
        (
            &["render", &session, "--special-tokens", "report"],
            &["render", &session, "--special-tokens", "warn"],
        ),
        (
            &[
                "render", &session, "--budget", "3000", "--previous", "none", "--watermarks",
                "0.9,0.5",
            ],
            &[
                "render", &session, "--budget", "3000", "--previous", "none", "--repack-at",
                "0.9,0.5",
            ],
        ),
    ];
    for (former, new) in pairs {
        let (former, new) = (run(former), run(new));
        assert!(new.status.success() && !new.stdout.is_empty(), "{new:?}");
        assert_eq!(former, new);
    }
    let encode = |flags: &[&str]| {
        let manifest = sample("every-type.json");
        let output = run(&[&["encode", &manifest], flags].concat());
        assert!(output.status.success(), "{output:?}");
        output.stdout
    };
    assert_eq!(encode(&["--no-trailer"]), encode(&["--no-index"]));
    assert_eq!(encode(&["--counts"]), encode(&["--index-costs"]));
    let text = run(&["render", &session]).stdout;
    let parse = |name| LCP.run_with(&[name, "-"], &text);
    assert_eq!(printed(&parse("unrender")), printed(&parse("parse")));
}

#[test]
fn former_commands_use_the_same_store() {
    let project = LCP.project("[continuity]\nstore = \"sessions.sqlite\"\n");
    let session = sample("session.lcp");
    project.stdout_of(&["track", "work", &session, "--window", "5000"]);
    for (former, new) in [("list", "list"), ("check", "check"), ("expire", "expire")] {
        assert_eq!(project.stdout_of(&["store", former]), project.stdout_of(&["session", new]));
    }
    let shown = project.stdout_of(&["store", "show", "work"]);
    assert_eq!(project.stdout_of(&["session", "show", "work"]), shown);
    assert_eq!(
        project.stdout_of(&["store", "fork", "work", "--at", "1", "--as", "again"]),
        "again\n"
    );
    let id = project.stdout_of(&["handoff", "work", "--force"]);
    let text = project.stdout_of(&["resume", id.trim_end()]);
    assert_eq!(project.stdout_of(&["resume", id.trim_end(), "--again"]), text);
    assert_eq!(project.stdout_of(&["session", "resume", id.trim_end(), "--repeat"]), text);
}

#[test]
fn help_omits_former_names() {
    let help = printed(&run(&["--help"]));
    for former in ["unrender", "track", "handoff", "resume", "store", "budget "] {
        assert!(!help.contains(&format!("\n  {former}")), "{former}: {help}");
    }
    let helps = ["render", "encode", "session resume"].map(|command| {
        printed(&run(&[&command.split(' ').collect::<Vec<_>>()[..], &["--help"]].concat()))
    });
    let former =
        ["--dedup-keep", "--watermarks", "neutralise", "--counts", "--no-trailer", "--again"];
    for (former, help) in
        former.iter().flat_map(|former| helps.iter().map(move |help| (former, help)))
    {
        assert!(!help.contains(former), "{former}: {help}");
    }
    let completions = printed(&run(&["completions", "bash"]));
    assert!(completions.contains("session") && !completions.contains("unrender"));
    assert!(!completions.contains("lcp__track") && !completions.contains(" track "));
    for former in [&["man", "track"][..], &["man", "unrender"], &["man", "store", "list"]] {
        assert!(printed(&run(former)).contains(".SH NAME"), "{former:?}");
    }
}

#[test]
fn former_setting_values_are_accepted() {
    let project = LCP.project("");
    let special_tokens = || project.stdout_of(&["config", "--json"]);
    for (former, new) in [("report", "warn"), ("neutralise", "escape")] {
        let setting = |value: &str| format!("[context.budget]\nspecial_tokens = {value:?}\n");
        project.write(&setting(new));
        let wanted = special_tokens();
        project.write(&setting(former));
        assert_eq!(special_tokens(), wanted);
    }
}
