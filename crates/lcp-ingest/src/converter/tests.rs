//! Tests of the place of the path in commands.

use super::*;

fn command(line: &str) -> Result<ConvertCommand, String> {
    ConvertCommand::new(Pattern::parse("*")?, line)
}

#[test]
fn path_is_a_variable_outside_of_quotes() {
    for (line, wanted) in [
        ("cat", "cat"),
        ("cat {} {}", "cat PATH PATH"),
        ("cat --in={}", "cat --in=PATH"),
        ("cat \"{}\" \"x\"\"{}\"", "cat PATH \"x\"PATH"),
        ("echo \"a b\" {}", "echo \"a b\" PATH"),
        ("ä{", "ä{"),
    ] {
        let shell_line = command(line).unwrap().shell_line;
        assert_eq!(shell_line, wanted.replace("PATH", PATH_VALUE), "{line}");
    }
    for line in ["sh -c \"cat {}\"", "\"{}.txt\"", "echo \"{} {}\""] {
        let error = command(line).unwrap_err();
        assert!(error.contains("in the quotes of a longer text"), "{error}");
    }
}

#[cfg(not(windows))]
#[test]
fn single_quotes_and_escapes_are_those_of_the_shell() {
    for (line, wanted) in [
        ("cat '{}'", "cat PATH"),
        ("echo 'it'\\''s' {}", "echo 'it'\\''s' PATH"),
        ("echo '\\' {}", "echo '\\' PATH"),
        ("echo \"\\\"\" {}", "echo \"\\\"\" PATH"),
        ("echo '\"' {}", "echo '\"' PATH"),
        ("echo \\' {}", "echo \\' PATH"),
        ("echo \\{}", "echo \\{}"),
    ] {
        let shell_line = command(line).unwrap().shell_line;
        assert_eq!(shell_line, wanted.replace("PATH", PATH_VALUE), "{line}");
    }
    assert!(command("sh -c 'cat {}'").is_err());
}

#[test]
fn empty_commands_are_errors() {
    assert_eq!(command(" ").unwrap_err(), "the command must not be empty");
    assert_eq!(command("a\0").unwrap_err(), "the command must not have a NUL");
}

#[test]
fn output_is_markdown_if_the_command_says_so() {
    let format = |line| command(line).unwrap().format();
    assert_eq!(format("pandoc -t markdown {}"), FormatHint::Markdown);
    assert_eq!(format("pandoc --to=gfm {}"), FormatHint::Markdown);
    assert_eq!(format("MarkItDown {}"), FormatHint::Markdown);
    assert_eq!(format("pdftotext {} -"), FormatHint::Plain);
}

#[test]
fn secrets_in_messages_of_a_command_are_replaced() {
    let token = concat!("gh", "p_", "16C7e42F292c6912E7710c838347Ae178B4a");
    let failed = CommandError::Failed {
        program: "x".to_owned(),
        status: "exit status: 1".to_owned(),
        stderr: format!("cannot read {token} here"),
    };
    let reason = answer("x", Err(failed)).unwrap_err();
    assert!(reason.contains("[secret github-token 1]") && !reason.contains(token), "{reason}");
}

#[test]
fn secrets_are_replaced_before_a_message_is_shortened() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDWq1\n";
    let key = format!("-----{} PRIVATE KEY-----\n{}", "BEGIN", line.repeat(90));
    let failed = |stderr| CommandError::Failed {
        program: "x".into(),
        status: "exit status: 1".into(),
        stderr,
    };
    let reason = answer("x", Err(failed(key))).unwrap_err();
    assert!(reason.contains("[secret private-key 1]") && !reason.contains("MIIEvQ"), "{reason}");

    let command = format!("{} {}16C7e42F292c6912E7710c838347Ae178B4a", "x".repeat(60), "ghp_");
    let converter = FileConverter::new(
        vec![self::command(&command).unwrap()],
        CommandOptions::default(),
        NonZeroUsize::MIN,
        None,
    );
    let name = converter.unwrap().commands[0].1.name().to_owned();
    assert!(!name.contains("ghp_"), "{name}");
}
