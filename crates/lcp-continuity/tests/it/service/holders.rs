//! Holders that have ended, and holders that others wait for.

#[cfg(target_os = "linux")]
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use lcp_continuity::{ContinuityConfig, Message};
#[cfg(target_os = "linux")]
use lcp_continuity::{HandoffOptions, holder_has_ended};

use super::support::Fixture;

const MINUTE: Duration = Duration::from_secs(60);

/// Starts a process that runs until it is killed, and returns it with the name of a holder in it.
#[cfg(target_os = "linux")]
fn process() -> (Child, String) {
    let child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let started = stat.rsplit(") ").next().unwrap().split(' ').nth(19).unwrap().to_owned();
    let ours = ContinuityConfig::default().holder;
    let (_, place) = ours.split_once(" on ").unwrap();
    let name = format!("process {} started {started} on {place}", child.id());
    (child, name)
}

#[cfg(target_os = "linux")]
#[test]
fn killed_process_loses_its_lease_at_once() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.say("c", Message::user("DECISION: Two spaces."));
    fixture.service.close("c").unwrap();
    let (mut child, name) = process();
    let stale = fixture.store.lease("c", &name, MINUTE).unwrap();
    assert!(!holder_has_ended(&name));
    assert_eq!(fixture.service.reopen("c").unwrap_err().code(), "held");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(holder_has_ended(&name));
    fixture.service.reopen("c").unwrap();
    fixture.say("c", Message::assistant("Done."));
    // A write that was still under way is refused.
    let late = fixture.store.append(&stale, &[], None).unwrap_err();
    assert_eq!(late.code(), "lease_lost");
}

#[cfg(target_os = "linux")]
#[test]
fn killed_process_loses_its_claim_at_once() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.say("c", Message::user("hello there"));
    let id = fixture.service.prepare_handoff("c", 500, &HandoffOptions::default());
    let id = id.unwrap().handoff_id;
    let (mut child, name) = process();
    let stale = fixture.store.claim(&id, &name, MINUTE).unwrap();
    assert_eq!(fixture.service.resume_from_handoff(&id).unwrap_err().code(), "claimed");
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = fixture.service.resume_from_handoff(&id).unwrap();
    let conversation = super::support::conversation("d", 10_000);
    let late = fixture.store.resume(&stale, &conversation).unwrap_err();
    assert_eq!(late.code(), "already_resumed");
    assert!(fixture.store.conversation(&resumed.new_conversation_id).is_ok());
}

#[test]
fn live_holder_is_waited_for_and_other_conversations_are_not_blocked() {
    let config = ContinuityConfig { wait: MINUTE, ..ContinuityConfig::default() };
    let fixture = Arc::new(Fixture::with(config));
    let other = fixture.another("other");
    other.open("c", 10_000);
    let waiting = thread::spawn({
        let fixture = Arc::clone(&fixture);
        move || fixture.service.reopen("c").map(|usage| usage.message_count)
    });
    thread::sleep(Duration::from_millis(50));
    fixture.open("d", 10_000);
    other.say("c", Message::user("the last message"));
    assert!(!waiting.is_finished());
    other.service.close("c").unwrap();
    assert_eq!(waiting.join().unwrap(), Ok(1));
}

#[test]
fn wait_for_a_live_holder_ends() {
    let wait = Duration::from_millis(50);
    let fixture = Fixture::with(ContinuityConfig { wait, ..ContinuityConfig::default() });
    fixture.open("c", 10_000);
    let other = fixture.another("other");
    let begin = Instant::now();
    assert_eq!(other.service.reopen("c").unwrap_err().code(), "held");
    assert!(begin.elapsed() >= wait);
}
