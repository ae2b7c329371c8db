//! Secrets in appended, imported, recorded, exported and handed-over blocks. Those of packed files
//! are in `pack/secrets.rs`.

use serde_json::{Value, json};

use crate::command::{Project, printed, stderr};
use crate::sessions::project;

/// Returns a token with the shape of GitHub's. It is put together here, so that no scanner reports
/// this file.
fn token(number: usize) -> String {
    format!("gh{}_{number}WPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx", 'p')
}

/// Writes a chat with two tokens, the first of them twice.
fn write_chat(project: &Project) {
    let [first, second] = [1, 2].map(token);
    let messages = json!([
        { "role": "user", "content": format!("You must always use the token {first} to log in.") },
        { "role": "assistant", "content": format!("Yes: {first}, and later {second}.") },
    ]);
    write(project, "chat.json", &messages.to_string());
}

fn write(project: &Project, name: &str, text: &str) {
    std::fs::write(project.path(name), text).unwrap();
}

fn render(project: &Project, pack: &str) -> String {
    project.stdout_of(&["render", pack, "--mode", "minimal"])
}

#[track_caller]
fn assert_no_secret(text: &str) {
    assert!(!text.contains("WPw5k4aXcaT4"), "{text}");
}

#[test]
fn append_redacts_with_numbers_that_the_pack_does_not_have() {
    let project = project();
    write(&project, "a.py", &format!("a = '{}'\n", token(1)));
    project.stdout_of(&["pack", "a.py", "-o", "all.lcp"]);
    write(&project, "b.py", &format!("b = '{}'\n", token(2)));
    project.stdout_of(&["pack", "b.py", "-o", "b.lcp"]);
    assert!(render(&project, "b.lcp").contains("b = '[secret github-token 1]'"));
    let text = format!("c {} and {}", token(3), token(2));
    let manifest =
        json!({ "blocks": [{ "type": "conversation", "role": "user", "content": text }] });
    write(&project, "c.json", &manifest.to_string());

    let output = project.run(&["append", "all.lcp", "b.lcp", "c.json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let warning = "replaced 2 secrets by markers (c.json, block 0 (user), line 1: github-token; \
                   c.json, block 0 (user), line 1: github-token)";
    assert!(stderr(&output).contains(warning), "{}", stderr(&output));
    let text = render(&project, "all.lcp");
    assert_no_secret(&text);
    // The value of the marker in b.lcp is unknown, so its number belongs to it alone.
    for line in [
        "a = '[secret github-token 1]'",
        "b = '[secret github-token 2]'",
        "c [secret github-token 3] and [secret github-token 4]",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let pack = std::fs::read(project.path("all.lcp")).unwrap();
    assert_no_secret(&String::from_utf8_lossy(&pack));
    project.stdout_of(&["validate", "all.lcp"]);
}

#[test]
fn merge_gives_markers_of_unknown_values_other_numbers() {
    let project = project();
    for (name, number) in [("a", 1), ("b", 2)] {
        write(&project, &format!("{name}.py"), &format!("{name} = '{}'\n", token(number)));
        project.stdout_of(&["pack", &format!("{name}.py"), "-o", &format!("{name}.lcp")]);
    }
    project.stdout_of(&["merge", "a.lcp", "b.lcp", "-o", "all.lcp"]);
    let text = render(&project, "all.lcp");
    assert!(text.contains("a = '[secret github-token 1]'"), "{text}");
    assert!(text.contains("b = '[secret github-token 2]'"), "{text}");
}

#[test]
fn exceptions_by_path_hold_for_tables_and_their_annotations() {
    let project = project();
    write(&project, "lcp.toml", "[[pack.allow_secret]]\nglob = \"data/\"\n");
    std::fs::create_dir(project.path("data")).unwrap();
    let rows: Vec<_> = (0..9).map(|row| format!("{row},{}\n", token(row))).collect();
    write(&project, "data/a.csv", &format!("id,key\n{}", rows.concat()));
    project.stdout_of(&["pack", "data", "-o", "data.lcp"]);
    write(&project, "b.md", "b\n");
    project.stdout_of(&["pack", "b.md", "-o", "all.lcp"]);
    let output = project.run(&["append", "all.lcp", "data.lcp"]);
    assert!(output.status.success() && !stderr(&output).contains("secret"), "{}", stderr(&output));
    assert!(render(&project, "all.lcp").contains(&token(8)));
}

#[test]
fn warning_has_no_label_with_a_secret() {
    let project = project();
    let title = format!("key {}", token(1));
    let manifest = json!({ "blocks": [
        { "type": "document", "title": title, "content": "text", "format_hint": "plain" },
    ] });
    write(&project, "c.json", &manifest.to_string());
    project.stdout_of(&["encode", "c.json", "-o", "c.lcp"]);
    project.stdout_of(&["encode", "c.json", "-o", "d.lcp"]);
    let output = project.run(&["append", "d.lcp", "c.lcp"]);
    let warning = "replaced 1 secret by markers (c.lcp, block 0, line 1: github-token)";
    assert!(stderr(&output).contains(warning), "{}", stderr(&output));
}

#[test]
fn append_without_secrets_is_identical_with_the_search_off() {
    let project = project();
    for name in ["a.lcp", "b.lcp"] {
        write(&project, "doc.md", "A marker looks like `[secret github-token 7]`.\n");
        project.stdout_of(&["pack", "doc.md", "-o", name]);
    }
    project.stdout_of(&["pack", "doc.md", "-o", "more.lcp"]);
    project.stdout_of(&["append", "a.lcp", "more.lcp"]);
    project.stdout_of(&["append", "b.lcp", "more.lcp", "--secrets", "off"]);
    let read = |name: &str| std::fs::read(project.path(name)).unwrap();
    assert!(read("a.lcp") == read("b.lcp"));
    // Only markers of replaced secrets are renumbered.
    assert_eq!(render(&project, "a.lcp").matches("github-token 7").count(), 2);

    let manifest = json!({ "blocks": [
        { "type": "conversation", "role": "user", "content": token(1) },
    ] });
    write(&project, "c.json", &manifest.to_string());
    let warned = project.run(&["append", "a.lcp", "c.json", "--secrets", "warn"]);
    let warning = "found 1 secret (c.json, block 0 (user), line 1: github-token)";
    assert!(stderr(&warned).contains(warning), "{}", stderr(&warned));
    assert!(render(&project, "a.lcp").contains(&token(1)));
}

#[test]
fn import_and_export_warn_by_default_and_redact_on_request() {
    let project = project();
    write_chat(&project);
    let import = |flags: &[&str]| {
        let output = project.run(&[&["import", "chat.json", "-o", "chat.lcp"], flags].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        (stderr(&output), render(&project, "chat.lcp"))
    };
    let (warning, text) = import(&[]);
    let found = "warning: found 3 secrets (block 0 (user), line 1: github-token; ";
    assert!(warning.contains(found) && warning.contains("; pass `--secrets redact`"), "{warning}");
    assert!(text.contains(&token(1)) && text.contains(&token(2)), "{text}");
    let export = |flags: &[&str]| {
        let output = project.run(&[&["export", "chat.lcp", "--to", "openai"], flags].concat());
        (stderr(&output), printed(&output))
    };
    let (warning, messages) = export(&[]);
    assert!(warning.contains("found 3 secrets") && messages.contains(&token(2)), "{warning}");
    let (warning, messages) = export(&["--secrets", "redact"]);
    assert!(warning.contains("replaced 3 secrets by markers"), "{warning}");
    assert_no_secret(&messages);
    let reply = "Yes: [secret github-token 1], and later [secret github-token 2].";
    assert!(messages.contains(reply), "{messages}");
    assert_eq!(export(&["--secrets", "off"]).0, "");

    let (warning, text) = import(&["--secrets", "redact"]);
    assert!(warning.contains("replaced 3 secrets by markers"), "{warning}");
    assert_no_secret(&text);
    assert!(text.contains(reply), "{text}");
    assert!(!import(&["--secrets", "off"]).0.contains("secret"));
    write(&project, "lcp.toml", "[[pack.allow_secret]]\nkind = \"github-token\"\n");
    assert!(!import(&[]).0.contains("secret"));
}

#[test]
fn summaries_of_an_import_have_no_secrets() {
    let project = project();
    let output = format!("export TOKEN={}\n", token(1)).repeat(40);
    let call = json!({ "id": "1", "type": "function",
        "function": { "name": "shell", "arguments": r#"{"command":"env"}"# } });
    let messages = json!([
        { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "1", "content": output },
    ]);
    write(&project, "chat.json", &messages.to_string());
    let arguments = ["import", "chat.json", "-o", "chat.lcp", "--no-summary-cache"];
    let program = ["--summarizer-cmd", "tee -a seen.txt | tail -n 1"];
    project.stdout_of(&[&arguments[..], &program].concat());
    assert_no_secret(&std::fs::read_to_string(project.path("seen.txt")).unwrap());
    let summary = project.stdout_of(&["render", "chat.lcp", "--verbosity", "summary"]);
    assert!(summary.contains("export TOKEN=[secret github-token 1]"), "{summary}");
    assert_no_secret(&summary);
}

#[test]
fn recorded_secrets_are_reported_once_and_not_handed_over() {
    let project = project();
    write_chat(&project);
    let record = |flags: &[&str]| {
        let arguments = ["session", "record", "c", "chat.json", "--window", "8000"];
        let output = project.run(&[&arguments[..], flags].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    let first = record(&[]);
    assert!(first.contains("found 3 secrets (message 0 (user), line 1: github-token"), "{first}");
    // A hook that runs after each turn reports only new messages.
    assert!(!record(&[]).contains("secret"));

    let output = project.run(&["session", "handoff", "c", "--force", "-o", "handoff.lcp"]);
    assert!(stderr(&output).contains("replaced 3 secrets by markers"), "{}", stderr(&output));
    let id = printed(&output);
    assert_no_secret(&String::from_utf8_lossy(
        &std::fs::read(project.path("handoff.lcp")).unwrap(),
    ));
    let prompt = project.stdout_of(&["session", "resume", id.trim(), "--as", "d"]);
    assert_no_secret(&prompt);
    assert!(prompt.contains("always use the token [secret github-token 1] to log in"), "{prompt}");

    // In the next session, the number of another value is new.
    let more = json!([{ "role": "user", "content": format!("You must never use {}.", token(9)) }]);
    write(&project, "more.json", &more.to_string());
    project.stdout_of(&["session", "record", "d", "more.json", "-q"]);
    let id = project.stdout_of(&["session", "handoff", "d", "--force", "-q"]);
    let prompt = project.stdout_of(&["session", "resume", id.trim(), "--as", "e"]);
    assert_no_secret(&prompt);
    assert!(prompt.contains("never use [secret github-token 3]"), "{prompt}");
}

#[test]
fn memory_of_a_compaction_has_no_secrets() {
    let project = project();
    let mut messages = vec![json!({
        "role": "user", "content": format!("You must always use the token {} to log in.", token(1)),
    })];
    for number in 0..40 {
        let role = if usize::is_multiple_of(number, 2) { "assistant" } else { "user" };
        let text =
            format!("Step {number}. {}", "We move one more function of the parser. ".repeat(30));
        messages.push(json!({ "role": role, "content": text }));
    }
    write(&project, "chat.json", &Value::from(messages).to_string());
    project.stdout_of(&["session", "record", "c", "chat.json", "--window", "12000"]);
    project.stdout_of(&["session", "compact", "c", "-o", "c.lcp"]);
    let text = render(&project, "c.lcp");
    assert_no_secret(&text);
    assert!(text.contains("always use the token [secret github-token 1]"), "{text}");
}
