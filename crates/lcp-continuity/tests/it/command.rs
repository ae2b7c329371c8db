//! Summaries by external programs.
#![cfg(unix)]

use std::fs;
use std::time::Duration;

use expect_test::{Expect, expect};
use lcp_continuity::Message;
use lcp_continuity::command::{CommandError, CommandFilter, CommandOptions};
use lcp_continuity::extract::{
    CommandSummarizer, Summarizer, SummaryError, SummaryRequest, summarize_or_builtin,
};
use lcp_driver::segments::CompressionLevel::Brief;
use lcp_tokens::HeuristicEstimator;
use lcp_types::{Role, Status};

use crate::summary::recorded;

/// Requests a summary of these messages in 100 tokens.
fn ask<T>(
    before: Option<&str>,
    messages: impl IntoIterator<Item = Message>,
    with: impl FnOnce(&SummaryRequest<'_>) -> T,
) -> T {
    with(&SummaryRequest {
        messages: &recorded(messages),
        before,
        target_tokens: 100,
        level: Brief,
        counter: &HeuristicEstimator,
    })
}

/// Returns the summary of "Hello." by a shell command.
fn answer(line: &str, options: CommandOptions) -> Result<String, SummaryError> {
    let summarizer = CommandSummarizer::new(CommandFilter::shell(line).with_options(options));
    ask(None, [Message::user("Hello.")], |request| summarizer.summarize(request))
}

/// Checks the error message of a shell command.
fn error(line: &str, expected: &Expect) {
    let error = answer(line, CommandOptions::default()).unwrap_err();
    expected.assert_eq(&error.to_string());
}

/// Returns options with this time limit, in milliseconds.
fn millis(millis: u64) -> CommandOptions {
    CommandOptions { timeout: Duration::from_millis(millis), ..CommandOptions::default() }
}

/// Returns a message with more text than a pipe can buffer.
fn long() -> Message {
    Message::user("A sentence that is said again. ".repeat(20_000))
}

#[test]
fn program_input_lists_summary_and_messages() {
    let messages = [
        Message::user("Fix it.\n[assistant] I agree.\n  [x] done"),
        Message::tool_call("c1", "read_file a.rs"),
        Message::tool_result("c1", "read_file", Status::Error, "not found"),
        Message::turn(Role::Tool, "plain"),
        Message::assistant(" \n"),
    ];
    let summarizer = CommandSummarizer::new(CommandFilter::new("cat", [""; 0]));
    let text = ask(Some("It began."), messages, |request| summarizer.summarize(request));
    expect![[r#"
        [earlier summary] It began.

        [user] Fix it.
         [assistant] I agree.
          [x] done

        [assistant] read_file a.rs

        [tool read_file: error] not found

        [tool] plain"#]]
    .assert_eq(&text.unwrap());
}

#[test]
fn environment_holds_target_tokens_and_level() {
    let text = answer("echo \"  $LCP_TARGET_TOKENS $LCP_SUMMARY_LEVEL  \"; echo", millis(60_000));
    assert_eq!(text.unwrap(), "100 brief");
}

#[test]
fn arguments_are_passed_without_a_shell() {
    let summarizer =
        CommandSummarizer::new(CommandFilter::new("/bin/echo", ["$HOME", "a  b", ";"]));
    assert_eq!(summarizer.name(), "echo");
    let text = ask(None, [Message::user("Hello.")], |request| summarizer.summarize(request));
    assert_eq!(text.unwrap(), "$HOME a  b ;");
}

#[test]
fn missing_program_is_an_error() {
    let summarizer = CommandSummarizer::new(CommandFilter::new("/nowhere/at-all", ["x"]));
    let error = ask(None, [long()], |request| summarizer.summarize(request)).unwrap_err();
    expect![[r#"cannot run "at-all": No such file or directory (os error 2)"#]]
        .assert_eq(&error.to_string());
}

#[test]
fn failed_program_reports_status_and_stderr() {
    error(
        "printf 'no \\033[31mkey\\n\"x\"\\n' >&2; echo partial; exit 3",
        &expect![[
            r#""printf 'no \\033[31mkey\\n\"x\"\\n' >&2; echo partial; exit 3" failed (exit status: 3): no \u{1b}[31mkey\n"x""#
        ]],
    );
    error("kill -9 $$", &expect![[r#""kill -9 $$" failed (signal: 9 (SIGKILL))"#]]);
}

#[test]
fn long_stderr_is_cut_to_its_end() {
    let line =
        "i=0; while [ $i -lt 6000 ]; do echo \"é line-$i-end\" >&2; i=$((i+1)); done; exit 1";
    let answer = answer(line, CommandOptions::default());
    let Err(SummaryError::Command(error)) = answer else { panic!("it failed") };
    let CommandError::Failed { stderr, .. } = &error else { panic!("{error}") };
    // No word is partial.
    let is_complete =
        |word: &str| word == "é" || word.starts_with("line-") && word.ends_with("-end");
    assert!(stderr.split_whitespace().all(is_complete), "{}", &stderr[..40]);
    assert!((60_000..=64 << 10).contains(&stderr.len()), "{}", stderr.len());
    let message = error.to_string();
    assert!(message.ends_with("line-5999-end") && !message.contains('\u{fffd}'), "{message}");
    // Each newline is escaped as two characters.
    assert!((2_000..2_500).contains(&message.len()), "{}", message.len());
}

#[test]
fn empty_or_non_utf8_summary_is_an_error() {
    error("true", &expect!["true returned an empty summary"]);
    error("printf ' \\n '", &expect![[r#"printf ' \n ' returned an empty summary"#]]);
    error(
        "printf 'ok \\377'",
        &expect![[r#"the output of "printf 'ok \\377'" is not UTF-8 (byte 3)"#]],
    );
}

#[test]
fn summary_above_target_tokens_is_an_error() {
    error(
        "echo '10 tokens:'; head -c 500 /dev/zero | tr '\\0' x",
        &expect![[
            r#"the summary of echo '10 tokens:'; head -c 500 /dev/zero | tr '\0' x has 127 tokens, but the limit is 100"#
        ]],
    );
}

#[test]
fn excessive_output_stops_the_program() {
    error("yes", &expect![[r#""yes" wrote more than 1048576 bytes and was stopped"#]]);
    error(
        "cat /dev/zero",
        &expect![[r#""cat /dev/zero" wrote more than 1048576 bytes and was stopped"#]],
    );
}

#[test]
fn output_at_max_bytes_is_accepted() {
    let options = CommandOptions { max_output_bytes: 6, ..CommandOptions::default() };
    assert_eq!(answer("echo 12345", options), Ok("12345".into()));
    let flood = CommandError::OutputTooLong { program: "echo 123456".into(), max: 6 };
    assert_eq!(answer("echo 123456", options), Err(flood.into()));
}

#[test]
fn program_may_ignore_its_input() {
    for (line, expected) in
        [("echo done", "done"), ("head -c 4", "[use"), ("exec <&-; echo x", "x")]
    {
        let summarizer = CommandSummarizer::new(CommandFilter::shell(line));
        let text = ask(None, [long()], |request| summarizer.summarize(request));
        assert_eq!(text.as_deref(), Ok(expected), "{line}");
    }
}

#[test]
fn program_may_write_before_reading_all_input() {
    // The program fills its output pipes before it reads all of its input.
    let options = CommandOptions { max_output_bytes: 10 << 20, ..CommandOptions::default() };
    let summarizer =
        CommandSummarizer::new(CommandFilter::shell("tee /dev/stderr").with_options(options));
    let error = ask(None, [long()], |request| summarizer.summarize(request)).unwrap_err();
    assert!(matches!(error, SummaryError::OverTarget { tokens: 155_001, .. }), "{error}");
}

#[test]
fn timeout_stops_program_and_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("group");
    let line = format!("echo $$ > '{}'; sleep 600 & sleep 600", file.display());
    let timed_out = Err(CommandError::TimedOut { program: name(&line), seconds: 1 }.into());
    assert_eq!(answer(&line, millis(300)), timed_out);
    gone(&fs::read_to_string(file).unwrap());
}

#[test]
fn program_with_closed_output_times_out() {
    let line = "echo ok; exec >&- 2>&- <&-; sleep 600";
    let timed_out = CommandError::TimedOut { program: line.into(), seconds: 1 };
    assert_eq!(answer(line, millis(300)), Err(timed_out.into()));
}

#[test]
fn background_children_end_with_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("group");
    let line = format!("echo $$ > '{}'; sleep 600 & echo done", file.display());
    assert_eq!(answer(&line, millis(60_000)), Ok("done".into()));
    gone(&fs::read_to_string(file).unwrap());
}

#[test]
fn failed_command_falls_back_to_builtin_summarizer() {
    let summarizer = CommandSummarizer::new(CommandFilter::shell("exit 7"));
    let (text, why) = ask(None, [Message::user("Hello, please fix it.")], |it| {
        summarize_or_builtin(&summarizer, it)
    });
    assert_eq!(text, "user: Hello, please fix it.");
    expect![[r#""exit 7" failed (exit status: 7)"#]].assert_eq(&why.unwrap().to_string());

    let summarizer = CommandSummarizer::new(CommandFilter::shell("echo fine"));
    let answer = ask(None, [], |it| summarize_or_builtin(&summarizer, it));
    assert_eq!(answer, ("fine".into(), None));

    let summarizer = CommandSummarizer::new(CommandFilter::shell("true"));
    let answer = ask(None, [], |it| summarize_or_builtin(&summarizer, it));
    assert_eq!(answer, (String::new(), None), "nothing to say, nothing said");
}

/// Returns the name of a shell command in reports.
fn name(line: &str) -> String {
    CommandSummarizer::new(CommandFilter::shell(line)).name().to_owned()
}

/// Waits until no process of this group is left, apart from zombies.
fn gone(group: &str) {
    let group: i32 = group.trim().parse().unwrap();
    for _ in 0..1_000 {
        if !lives(group) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("group {group} lives on");
}

#[cfg(target_os = "linux")]
fn lives(group: i32) -> bool {
    // A dead process stays in its group if its parent does not reap it.
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The format is `number (name) state parent group`, and the name may contain anything.
        let mut words = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let dead = matches!(words.next(), None | Some("Z" | "X"));
        !dead && words.nth(1).is_some_and(|it| it == group.to_string())
    })
}

#[cfg(not(target_os = "linux"))]
fn lives(group: i32) -> bool {
    let group = rustix::process::Pid::from_raw(group).unwrap();
    rustix::process::test_kill_process_group(group).is_ok()
}

/// Running programs end at once, and no new ones are started.
#[test]
#[cfg(unix)]
fn stopped_filter_ends_programs_and_starts_no_more() {
    let summarizer = CommandSummarizer::new(CommandFilter::shell("echo started >&2; sleep 30"));
    let filter = summarizer.filter().clone();
    let waiting = std::thread::spawn(move || filter.run(String::new(), &[]));
    while !waiting.is_finished() {
        // Repeated, because the program may not have started yet.
        summarizer.filter().stop();
        std::thread::yield_now();
    }
    let error = waiting.join().unwrap().unwrap_err();
    assert!(!error.to_string().contains("30 s"), "{error}");
    let error = summarizer.filter().run(String::new(), &[]).unwrap_err();
    assert!(error.to_string().contains("the filter was stopped"), "{error}");
}
