//! Messages and hints for inputs that are something else.

use crate::command::{run, sample, stderr};

#[test]
fn inputs_that_are_too_short_have_a_message_without_padding() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (short, empty) = (path("short.lcp"), path("empty.lcp"));
    std::fs::write(&short, "lc").unwrap();
    std::fs::write(&empty, "").unwrap();
    let hint = "hint: create a pack with `lcp pack PATH`";
    for (file, message) in [
        (&short, "error: not an LCP pack: unknown magic \"lc\" [bad_magic] ("),
        (&empty, "error: not an LCP pack: the input is empty [unexpected_eof] ("),
    ] {
        let said = stderr(&run(&["render", file.to_str().unwrap()]));
        assert!(said.starts_with(message) && said.contains(hint), "{said}");
    }
    let output = run(&["validate", empty.to_str().unwrap()]);
    let lines = String::from_utf8(output.stdout).unwrap();
    assert!(lines.contains("not an LCP pack: the input is empty"), "{lines}");
}

/// A hint is an instruction that applies to the input at hand.
#[test]
fn errors_about_inputs_have_fitting_hints() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| {
        std::fs::write(path(name), text).unwrap();
        path(name).to_str().unwrap().to_owned()
    };
    let manifest = write("m.json", r#"{"blocks":[{"type":"code","path":"a","content":"x"}]}"#);
    let chat = write("c.json", r#"[{"role":"user","content":"hi"}]"#);
    let text = write("t.txt", "some words\n");
    let bad = write("bad.json", r#"{"blocks":[{"type":"code","lang":"rus"}]}"#);
    let (pack, folder) = (sample("chat.lcp"), folder.path().to_str().unwrap());
    let missing = path("missing.lcp").to_str().unwrap().to_owned();
    let out = path("out.lcp").to_str().unwrap().to_owned();
    for (arguments, expected) in [
        (
            &["append", &missing, &pack][..],
            format!("create the pack with `lcp merge INPUT... -o {missing}`"),
        ),
        (
            &["encode", &bad, "-o", &out],
            "correct the manifest; run `lcp decode PACK` to see the manifest of a pack".to_owned(),
        ),
        (
            &["encode", &pack, "-o", &out],
            "it is a pack already; print its manifest with `lcp decode`".to_owned(),
        ),
        (
            &["encode", &chat, "-o", &out],
            "it looks like a transcript; convert it with `lcp import FILE`".to_owned(),
        ),
        (
            &["parse", &text],
            "pass the output of `lcp render`, and --mode markdown or minimal if it has that mode"
                .to_owned(),
        ),
        (
            &["import", &manifest, "--from", "codex", "-o", &out],
            "convert it with `lcp encode MANIFEST -o PACK`".to_owned(),
        ),
        (
            &["import", &chat, "--from", "codex", "-o", &out],
            "it looks like openai-chat; omit --from, or pass --from openai-chat".to_owned(),
        ),
        (
            &["count", &text, "--model", "nothing"],
            "add a [[model]] entry to lcp.toml, or pass --encoding".to_owned(),
        ),
        (&["config", "--config", folder], "pass the lcp.toml, not its folder".to_owned()),
        (
            &["count", &text, "--encoding", "gpt-4"],
            "pass a model with --model: `--model gpt-4`".to_owned(),
        ),
        (&["render", &pack, "--budget", "8k"], "write the number in digits: 8000".to_owned()),
    ] {
        let said = stderr(&run(arguments));
        assert!(said.ends_with(&format!("\nhint: {expected}\n")), "{arguments:?}: {said}");
    }
}
