//! Failing stores, racing threads, and faulty extractors.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use lcp_continuity::compact::CompactionOptions;
use lcp_continuity::extract::{
    AnchorExtractor, ExtractiveSummarizer, Summarizer, SummaryError, SummaryRequest,
};
use lcp_continuity::store::{
    self, Claim, ConversationRecord, ExpiryStats, HandoffRecord, Lease, MemoryStore,
    NewConversation, NewHandoff, NewMessage, Store, StoredMessage,
};
use lcp_continuity::{
    AnchorKind, AnchorPoint, AnchorSource, CheckOutcome, ContinuityConfig, ContinuityEvent, Error,
    HandoffOptions, Message, Recorded, SessionContinuityService, TriggerMode,
};

use super::support::{Fixture, Words, conversation, words};

/// The points at which a call fails, once.
const BEFORE: u32 = 1;
const AFTER: u32 = 2;

/// An in-memory store that fails on demand, like a broken connection.
#[derive(Debug, Default)]
struct Failing {
    inner: MemoryStore,
    append: AtomicU32,
    next_epoch: AtomicU32,
    resume: AtomicU32,
    /// The barrier at which claimants wait for each other.
    claims: Mutex<Option<Arc<Barrier>>>,
}

/// Runs `act`, or fails before or after it.
fn fails<T>(when: &AtomicU32, act: impl FnOnce() -> store::Result<T>) -> store::Result<T> {
    let broken = || store::Error::Io("broken".into());
    match when.swap(0, Ordering::SeqCst) {
        BEFORE => Err(broken()),
        AFTER => act().and_then(|_| Err(broken())),
        _ => act(),
    }
}

macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        fn $name(&self, $($argument: $type),*) -> store::Result<$result> {
            self.inner.$name($($argument),*)
        }
    )*};
}

impl Store for Failing {
    forward! {
        begin(conversation: &NewConversation) -> ConversationRecord;
        conversation(id: &str) -> ConversationRecord;
        conversations(after: &str, limit: u64) -> Vec<ConversationRecord>;
        lease(conversation: &str, holder: &str, span: Duration) -> Lease;
        renew(lease: &Lease, span: Duration) -> Lease;
        release(lease: &Lease) -> ();
        set_window(lease: &Lease, window: u32, reserve: u32, status: Option<&str>) -> ();
        messages(conversation: &str, from: u64, limit: u64) -> Vec<StoredMessage>;
        fork(conversation: &str, messages: u64, id: &str) -> ConversationRecord;
        commit(lease: &Lease, handoff: &NewHandoff) -> HandoffRecord;
        handoff(id: &str) -> HandoffRecord;
        abandon(claim: &Claim) -> ();
        chain(handoff: &str) -> Vec<HandoffRecord>;
        handoffs(conversation: &str, limit: u64) -> Vec<HandoffRecord>;
        latest(conversation: &str) -> Option<String>;
        expire() -> ExpiryStats;
    }

    fn append(
        &self,
        lease: &Lease,
        messages: &[NewMessage],
        status: Option<&str>,
    ) -> store::Result<u64> {
        fails(&self.append, || self.inner.append(lease, messages, status))
    }

    fn next_epoch(&self, lease: &Lease, status: Option<&str>) -> store::Result<Lease> {
        fails(&self.next_epoch, || self.inner.next_epoch(lease, status))
    }

    fn claim(&self, handoff: &str, claimant: &str, span: Duration) -> store::Result<Claim> {
        let claim = self.inner.claim(handoff, claimant, span);
        let barrier = self.claims.lock().unwrap().clone();
        if let Some(barrier) = barrier {
            // A thread that waits alone continues after a moment.
            let (done, over) = std::sync::mpsc::channel();
            thread::spawn(move || {
                barrier.wait();
                let _ = done.send(());
            });
            let _ = over.recv_timeout(Duration::from_millis(100));
        }
        claim
    }

    fn resume(
        &self,
        claim: &Claim,
        conversation: &NewConversation,
    ) -> store::Result<ConversationRecord> {
        fails(&self.resume, || self.inner.resume(claim, conversation))
    }
}

fn service(store: &Arc<Failing>) -> SessionContinuityService {
    configured(store, ContinuityConfig::default())
}

fn configured(store: &Arc<Failing>, config: ContinuityConfig) -> SessionContinuityService {
    let store: Arc<dyn Store> = Arc::<Failing>::clone(store);
    SessionContinuityService::new(store, Arc::new(Words)).with_config(config)
}

/// Returns the tokens of the shown messages.
fn shown(service: &SessionContinuityService, id: &str) -> u32 {
    let context = service.context(id).unwrap();
    context.iter().map(|message| super::prepare::counted(&message.text())).sum()
}

#[test]
fn two_threads_resume_a_handoff_once() {
    let store = Arc::new(Failing::default());
    let events = Arc::new(AtomicU32::new(0));
    let told = Arc::clone(&events);
    let service = Arc::new(service(&store).on_event(move |event| {
        if matches!(event, ContinuityEvent::SessionResumed(_)) {
            told.fetch_add(1, Ordering::SeqCst);
        }
    }));
    service.open(&conversation("c", 1_000)).unwrap();
    service.record_message("c", Message::user("hello there")).unwrap();
    let handoff = service.prepare_handoff("c", 500, &HandoffOptions::default()).unwrap();
    *store.claims.lock().unwrap() = Some(Arc::new(Barrier::new(2)));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (service, id) = (Arc::clone(&service), handoff.handoff_id.clone());
            thread::spawn(move || service.resume_from_handoff(&id).map_err(|error| error.code()))
        })
        .collect();
    let results: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    assert!(results.iter().any(|result| result.as_ref().err() == Some(&"already_resumed")));
    assert_eq!(events.load(Ordering::SeqCst), 1);
}

#[test]
fn unconfirmed_message_is_read_again_on_reopen() {
    let store = Arc::new(Failing::default());
    let service = service(&store);
    service.open(&conversation("c", 1_000)).unwrap();
    service.record_message("c", Message::user("first words")).unwrap();
    store.append.store(AFTER, Ordering::SeqCst);
    let error = service.record_message("c", Message::user("DECISION: Alpha stays.")).unwrap_err();
    assert_eq!(error.code(), "io");
    let error = service.record_message("c", Message::user("later words")).unwrap_err();
    assert_eq!(error.code(), "not_open");
    assert_eq!(service.reopen("c").unwrap().total_tokens, 5);
    service.record_message("c", Message::user("later words")).unwrap();
    let handoff = service.prepare_handoff("c", 500, &HandoffOptions::default()).unwrap();
    assert_eq!(handoff.anchors[0].text, "Alpha stays.");
    let resumed = service.resume_from_handoff(&handoff.handoff_id).unwrap();
    assert_eq!(resumed.late_messages, []);
}

#[test]
fn due_is_reported_after_store_failure() {
    let store = Arc::new(Failing::default());
    let manual = ContinuityConfig {
        mode: TriggerMode::Manual,
        holder: "me".into(),
        ..ContinuityConfig::default()
    };
    let service = configured(&store, manual);
    service.open(&conversation("c", 100)).unwrap();
    service.record_message("c", Message::user(words(86))).unwrap();
    store.append.store(BEFORE, Ordering::SeqCst);
    assert_eq!(service.check("c").unwrap_err().code(), "io");
    service.reopen("c").unwrap();
    assert_eq!(service.check("c").unwrap().outcome, CheckOutcome::Due);
}

#[test]
fn interrupted_resume_counts_tokens_once() {
    let store = Arc::new(Failing::default());
    let service = service(&store);
    service.open(&conversation("c", 1_000)).unwrap();
    service.record_message("c", Message::user("hello there")).unwrap();
    let handoff = service.prepare_handoff("c", 500, &HandoffOptions::default()).unwrap();
    service.record_message("c", Message::user(words(100))).unwrap();
    store.append.store(BEFORE, Ordering::SeqCst);
    assert_eq!(service.resume_from_handoff(&handoff.handoff_id).unwrap_err().code(), "io");
    let id = store.conversation("c").unwrap().continued_as.unwrap();
    let usage = service.reopen(&id).unwrap();
    assert_eq!(usage.total_tokens, shown(&service, &id));
    assert_eq!(service.messages(&id).unwrap().len(), 1);
}

#[test]
fn unconfirmed_resume_is_retried() {
    let store = Arc::new(Failing::default());
    let service = service(&store);
    service.open(&conversation("c", 1_000)).unwrap();
    service.record_message("c", Message::user("hello there")).unwrap();
    let handoff = service.prepare_handoff("c", 500, &HandoffOptions::default()).unwrap();
    store.resume.store(AFTER, Ordering::SeqCst);
    let resumed = service.resume_from_handoff(&handoff.handoff_id).unwrap();
    assert_eq!(resumed.previous_conversation_id, "c");
}

#[test]
fn crash_during_compaction_counts_tokens_once() {
    let store = Arc::new(Failing::default());
    let first = service(&store);
    first.open(&conversation("c", 1_000)).unwrap();
    for number in 0..17 {
        let text = format!("DECISION: number {number} {}", words(45));
        first.record_message("c", Message::user(text)).unwrap();
    }
    store.next_epoch.store(BEFORE, Ordering::SeqCst);
    first.compact("c", &CompactionOptions::default()).unwrap_err();
    let second = configured(&store, first.config().clone());
    let usage = second.reopen("c").unwrap();
    assert_eq!((usage.total_tokens, usage.epoch), (shown(&second, "c"), 0));
    second.compact("c", &CompactionOptions::default()).unwrap();
    let context = second.context("c").unwrap();
    let memories = context.iter().filter(|m| m.text().starts_with("[Persistent Memory]")).count();
    assert_eq!(memories, 1);
    assert_eq!(second.usage("c").total_tokens, shown(&second, "c"));
}

/// A summarizer that panics once.
struct Panics(AtomicU32);

impl Summarizer for Panics {
    fn summarize(&self, _: &SummaryRequest<'_>) -> Result<String, SummaryError> {
        assert_ne!(self.0.swap(1, Ordering::SeqCst), 0, "as it should");
        Ok("fine".into())
    }

    fn name(&self) -> &'static str {
        "panics"
    }
}

#[test]
fn summarizer_panic_stops_only_one_preparation() {
    let store = Arc::new(Failing::default());
    let service = Arc::new(service(&store).with_summarizer(Panics(AtomicU32::new(0))));
    service.open(&conversation("c", 1_000)).unwrap();
    for _ in 0..9 {
        service.record_message("c", Message::user(words(97))).unwrap();
    }
    let other = Arc::clone(&service);
    assert!(thread::spawn(move || other.check("c").is_ok()).join().is_err());
    assert!(matches!(service.check("c").unwrap().outcome, CheckOutcome::Prepared(_)));
}

/// A slow summarizer.
struct Slow;

impl Summarizer for Slow {
    fn summarize(&self, request: &SummaryRequest<'_>) -> Result<String, SummaryError> {
        thread::sleep(Duration::from_millis(50));
        ExtractiveSummarizer.summarize(request)
    }

    fn name(&self) -> &'static str {
        "slow"
    }
}

#[test]
fn two_threads_compact_once() {
    let store = Arc::new(Failing::default());
    let service = Arc::new(service(&store).with_summarizer(Slow));
    service.open(&conversation("c", 1_000)).unwrap();
    for number in 0..18 {
        let text = format!("Number {number} {}", words(45));
        service.record_message("c", Message::user(text)).unwrap();
    }
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let service = Arc::clone(&service);
            thread::spawn(move || service.compact_if_low("c").unwrap().is_some())
        })
        .collect();
    let done: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(done.into_iter().filter(|done| *done).count(), 1);
    assert_eq!(service.usage("c").epoch, 1);
}

/// An extractor that makes every message an anchor, numbered from the beginning in each call.
struct Numbered(f64);

impl AnchorExtractor for Numbered {
    fn anchors(&self, conversation: &str, messages: &[Recorded]) -> Vec<AnchorPoint> {
        let anchor = |(number, recorded): (usize, &Recorded)| {
            let source = AnchorSource {
                conversation: conversation.into(),
                message: recorded.position,
                ..AnchorSource::default()
            };
            let text = recorded.message.text();
            let anchor = AnchorPoint::new(AnchorKind::Decision, text, self.0, source);
            AnchorPoint { id: format!("a{number}"), ..anchor }
        };
        messages.iter().enumerate().map(anchor).collect()
    }
}

#[test]
fn extractor_ids_and_importance_are_normalized() {
    for importance in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
        let store = Arc::new(Failing::default());
        let service = service(&store).with_anchors(Numbered(importance));
        service.open(&conversation("c", 1_000)).unwrap();
        service.record_message("c", Message::user("one one")).unwrap();
        let options = HandoffOptions::default();
        let handoff = service.prepare_handoff("c", 500, &options).unwrap();
        let id = service.resume_from_handoff(&handoff.handoff_id).unwrap().new_conversation_id;
        service.record_message(&id, Message::user("two two")).unwrap();
        let handoff = service.prepare_handoff(&id, 500, &options).unwrap();
        let texts: Vec<_> = handoff.anchors.iter().map(|anchor| anchor.text.as_str()).collect();
        assert_eq!(texts, ["one one", "two two"]);
        assert!(handoff.anchors.iter().all(|anchor| (0.0..=1.0).contains(&anchor.importance)));
    }
}

#[test]
fn newest_messages_survive_two_handoffs() {
    let fixture = Fixture::new();
    fixture.open("c", 100_000);
    for number in 0..3 {
        fixture.say("c", Message::user(format!("Tell me about part {number} of it.")));
        fixture.say("c", Message::assistant(format!("Part {number}: {}", words(500))));
    }
    fixture.say("c", Message::user("The deploy host is alpha-7, port 8022."));
    fixture.say("c", Message::assistant("Noted, the deploy host is alpha-7."));
    let options = HandoffOptions::default();
    let first = fixture.service.prepare_handoff("c", 10_000, &options).unwrap();
    let id = fixture.service.resume_from_handoff(&first.handoff_id).unwrap().new_conversation_id;
    let second = fixture.service.prepare_handoff(&id, 10_000, &options).unwrap();
    let directive = fixture.service.generate_continuation_directive(&second).unwrap();
    assert!(directive.text.contains("Noted, the deploy host is alpha-7."));
}

#[test]
fn late_result_is_resumed_with_its_call() {
    let fixture = Fixture::new();
    fixture.open("c", 100_000);
    fixture.say("c", Message::user("Run it."));
    fixture.say("c", Message::tool_call("call_1", "make"));
    let options = HandoffOptions::default();
    let handoff = fixture.service.prepare_handoff("c", 10_000, &options).unwrap();
    let result = Message::tool_result("call_1", "make", lcp_types::Status::Ok, "done");
    fixture.say("c", result);
    let resumed = fixture.service.resume_from_handoff(&handoff.handoff_id).unwrap();
    let context = fixture.service.context(&resumed.new_conversation_id).unwrap();
    let ids: Vec<_> = context[1..].iter().map(|m| (m.is_result(), m.tool_call_id())).collect();
    assert_eq!(ids, [(false, Some("call_1")), (true, Some("call_1"))]);
}

#[test]
fn superseded_anchor_is_remembered_after_reopen() {
    let fixture = Fixture::new();
    fixture.open("c", 1_000);
    fixture.say("c", Message::user("DECISION: Alpha stays."));
    fixture.say("c", Message::user("DECISION: Beta stays."));
    for number in 0..20 {
        fixture.say("c", Message::user(format!("Number {number} {}", words(40))));
    }
    let options = HandoffOptions::default();
    let first = fixture.service.prepare_handoff("c", 500, &options).unwrap();
    let alpha = &first.anchors[0].id;
    fixture.service.supersede_anchor("c", alpha, &first.anchors[1].id).unwrap();
    fixture.service.close("c").unwrap();
    let other = fixture.another("other");
    other.service.reopen("c").unwrap();
    let compaction = other.service.compact("c", &CompactionOptions::default()).unwrap();
    let memory = compaction.memory.unwrap().message.text().into_owned();
    assert!(
        memory.contains("Beta stays.") && !memory.contains("- decision: Alpha stays."),
        "{memory}"
    );
    let second = other.service.prepare_handoff("c", 500, &options).unwrap();
    let texts: Vec<_> = second.anchors.iter().map(|anchor| anchor.text.as_str()).collect();
    assert_eq!(texts, ["Beta stays."]);
    assert_eq!(second.superseded, [(alpha.clone(), first.anchors[1].id.clone())]);
}

#[test]
fn target_without_room_for_content_is_an_error_that_names_the_smallest() {
    let fixture = Fixture::new();
    fixture.open("c", 1_000);
    fixture.say("c", Message::user("DECISION: Alpha stays."));
    let prepare = |target| fixture.service.prepare_handoff("c", target, &HandoffOptions::default());
    let Err(Error::TargetTooSmall { target: 0, least }) = prepare(0) else { panic!() };
    let too_small = Error::TargetTooSmall { target: least - 1, least };
    assert_eq!(prepare(least - 1), Err(too_small));
    assert_eq!(fixture.store.latest("c").unwrap(), None);
    let handoff = prepare(least).unwrap();
    let resumed = fixture.service.resume_from_handoff(&handoff.handoff_id).unwrap();
    assert!(resumed.directive.text.contains("Alpha stays."), "{resumed:?}");
    assert_eq!(resumed.restored_anchors.len(), 1);
}
