//! Session commands that are killed, and commands that run at the same time.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lcp_testkit::SplitMix64;
use serde_json::{Value, json};

use crate::command::{LCP, Project, printed, stderr};
use crate::sessions::{fails, is_free, project, track, write};

fn start(project: &Project, arguments: &[&str]) -> Child {
    let mut command = LCP.command(&project.path(""), arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Starts a hand-off of `c`, and returns it while it holds the lease: its summarizer has started,
/// and runs for so many seconds.
fn start_handoff(project: &Project, seconds: u32) -> Child {
    let fifo = project.path("started");
    if !fifo.exists() {
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    }
    let summarizer = format!("echo started > started; exec sleep {seconds}");
    let arguments = ["session", "handoff", "c", "--force", "--summarizer-cmd", &summarizer];
    let child = start(project, &arguments);
    let mut line = String::new();
    BufReader::new(std::fs::File::open(&fifo).unwrap()).read_line(&mut line).unwrap();
    child
}

#[test]
fn killed_handoff_does_not_block_its_conversation() {
    let project = project();
    write(&project, 3);
    track(&project, "c", &[]);
    for is_reaped in [true, false] {
        let mut child = start_handoff(&project, 5);
        let shown = project.json(&["session", "show", "c", "--json"]);
        let holder = shown["holder"]["name"].as_str().unwrap().to_owned();
        assert!(holder.starts_with(&format!("process {} started ", child.id())), "{holder}");
        fails(&project, &["session", "record", "c", "--wait", "0"], 1, "[held]");
        child.kill().unwrap();
        if is_reaped {
            child.wait().unwrap();
        } else {
            // Until its parent waits for it, it is a zombie. Its threads may need a moment to end.
            let stat = format!("/proc/{}/stat", child.id());
            while !std::fs::read_to_string(&stat).unwrap().contains(") Z ") {
                thread::sleep(Duration::from_millis(1));
            }
        }
        is_free(&project, "c");
        project.stdout_of(&["session", "record", "c", "--wait", "0"]);
        project.stdout_of(&["session", "handoff", "c", "--force", "--wait", "0"]);
        child.wait().unwrap();
    }
}

#[test]
fn live_holder_is_waited_for() {
    let project = project();
    write(&project, 3);
    track(&project, "c", &[]);
    let mut child = start_handoff(&project, 1);
    write(&project, 4);
    let tracked = track(&project, "c", &["--wait", "60"]);
    assert_eq!((&tracked["recorded"], &tracked["messages"]), (&json!(2), &json!(9)));
    assert!(child.wait().unwrap().success());
    assert!(tracked["handoff"].is_string(), "the hand-off was first: {tracked}");

    project.write("[continuity]\nstore = \"kept.sqlite\"\nwait_seconds = 1\n");
    let mut child = start_handoff(&project, 30);
    let begin = Instant::now();
    let hint = "hint: pass a longer --wait, or set `wait_seconds` of lcp.toml";
    fails(&project, &["session", "record", "c"], 1, hint);
    assert!(begin.elapsed() >= Duration::from_secs(1));
    child.kill().unwrap();
    child.wait().unwrap();
    fails(&project, &["session", "record", "c", "--wait", "3601"], 2, "--wait");
}

/// Four processes record the same growing conversation, three times.
#[test]
fn processes_that_record_one_conversation_all_succeed() {
    let project = project();
    for round in 1..=3 {
        write(&project, 4 * round);
        let record = ["session", "record", "c", "history.md", "--json"];
        let children: Vec<_> = (0..4).map(|_| start(&project, &record)).collect();
        let ended = children.into_iter().map(|child| child.wait_with_output().unwrap());
        let recorded = |output: &Output| {
            let recorded: Value = serde_json::from_str(&printed(output)).unwrap();
            assert_eq!(recorded["messages"], 8 * round + 1, "{recorded}");
            recorded["recorded"].as_u64().unwrap()
        };
        let recorded: u64 = ended.map(|output| recorded(&output)).sum();
        assert_eq!(recorded, if round == 1 { 9 } else { 8 }, "each message is recorded once");
    }
}

#[test]
fn commands_killed_at_random_times_lose_and_block_nothing() {
    kill_rounds(9);
}

/// `cargo test -p lcp-cli --test it killed::hundred -- --ignored`
#[test]
#[ignore = "takes minutes"]
fn hundred_rounds_of_kill_lose_and_block_nothing() {
    kill_rounds(102);
}

/// A conversation of which the history contains all messages.
struct Recorded {
    id: String,
    /// The number of messages that belong to earlier conversations.
    skip: u64,
    /// The number of acknowledged messages.
    messages: u64,
    /// The hand-off that waits.
    handoff: String,
}

/// Kills `record`, `handoff` and `resume` in turn at a random time, and runs the next command at
/// once.
fn kill_rounds(rounds: u32) {
    let project = project();
    let mut random = SplitMix64::new(29);
    write(&project, 1);
    let begin = Instant::now();
    track(&project, "c", &["--wait", "0"]);
    let longest = u64::try_from(begin.elapsed().as_millis()).unwrap().clamp(1, 500);
    let mut it = Recorded { id: "c".into(), skip: 0, messages: 3, handoff: String::new() };
    let mut kills = 0;
    for round in 0..rounds {
        write(&project, round + 2);
        let all = u64::from(round) * 2 + 5;
        let skip = it.skip.to_string();
        let command = match round % 3 {
            0 => vec!["session", "record", &it.id, "history.md", "--skip", &skip],
            1 => vec!["session", "handoff", &it.id, "--force"],
            _ => vec!["session", "resume", &it.handoff],
        };
        let mut child = start(&project, &command);
        thread::sleep(Duration::from_millis(random.next_u64() % longest));
        child.kill().unwrap();
        kills += u32::from(!child.wait().unwrap().success());
        if round % 3 == 2 {
            it = resume(&project, &it);
        }
        let skip = it.skip.to_string();
        let tracked = track(&project, &it.id, &["--skip", &skip, "--wait", "0"]);
        // The killed command may have recorded some of them, but nothing is missing or doubled.
        assert_eq!(tracked["messages"], all - it.skip, "round {round}: {tracked}");
        assert!(tracked["recorded"].as_u64().unwrap() <= all - it.skip - it.messages);
        it.messages = all - it.skip;
        let handoff = ["session", "handoff", &it.id, "--force", "--wait", "0"];
        let id = project.stdout_of(&handoff);
        it.handoff = id.trim_end().into();
    }
    assert!(kills > 0, "no command was killed before its end");
    let checked = project.json(&["session", "check", "--json"]);
    assert_eq!(checked["problems"], json!([]));
}

/// Resumes the hand-off of a conversation that a killed command may have resumed.
fn resume(project: &Project, it: &Recorded) -> Recorded {
    let output = project.run(&["session", "resume", &it.handoff, "--json", "--wait", "0"]);
    let resumed: Value = if output.status.success() {
        serde_json::from_str(&printed(&output)).unwrap()
    } else {
        assert!(stderr(&output).contains("[already_resumed]"), "{}", stderr(&output));
        project.json(&["session", "resume", &it.handoff, "--repeat", "--json"])
    };
    let id = resumed["conversation"].as_str().unwrap().to_owned();
    Recorded { id, skip: it.skip + it.messages, messages: 0, handoff: String::new() }
}
