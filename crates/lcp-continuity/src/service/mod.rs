//! Sessions from their first message to the one that continues them.

mod build_handoff;
mod check;
mod compact;
mod open;
mod record;
mod resume;
mod session;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lcp_tokens::TokenEstimator;

pub use check::{CheckOutcome, CheckResult};
pub use resume::ResumeOptions;

use crate::error::{Error, Result};
use crate::events::ContinuityEvent;
use crate::extract::{
    AnchorExtractor, ExtractiveSummarizer, ListTaskExtractor, RuleAnchorExtractor, Summarizer,
    TaskExtractor,
};
use crate::model::{Clock, HandoffOptions, SystemClock};
use crate::store::Store;
use crate::tracker::ConversationTokenTracker;
use crate::trigger::{Thresholds, TriggerMode};
use session::Session;

/// How sessions are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct ContinuityConfig {
    /// Whether [`SessionContinuityService::check`] prepares a hand-off that is due,
    /// or only says so (`continuity.auto`).
    pub mode: TriggerMode,
    /// When a hand-off is due. Nothing is opened with thresholds that are none:
    /// [`Thresholds::validate`].
    pub thresholds: Thresholds,
    /// Tokens that the directive of an automatic hand-off may have; a quarter of
    /// the effective window if none are given.
    pub target_token_budget: Option<u32>,
    /// What automatic hand-offs hold. Compactions remember none of the anchors that
    /// these options say are superseded.
    pub handoff: HandoffOptions,
    /// Who this is, among all that share the store: 1 to 256 bytes; the process and the time unless
    /// told otherwise. No two services may have the same at once: what one claims, the other has
    /// too. An agent that has a name of its own gets its conversations back at once after it was
    /// killed; others wait for the lease to end.
    pub holder: String,
    /// How long a lease or a claim lasts: a machine that dies loses them after that.
    pub lease: Duration,
}

impl Default for ContinuityConfig {
    fn default() -> Self {
        Self {
            mode: TriggerMode::Automatic,
            thresholds: Thresholds::default(),
            target_token_budget: None,
            handoff: HandoffOptions::default(),
            holder: format!("process {}, {}", std::process::id(), session::random_holder_id()),
            lease: Duration::from_secs(5 * 60),
        }
    }
}

/// A conversation that is open here, with the fence of the lease that it was taken up with.
type OpenSession = (u64, Arc<Mutex<Session>>);

type Listener = Box<dyn Fn(&ContinuityEvent) + Send + Sync>;

/// Keeps sessions: records their messages, says when one should be handed over,
/// prepares the hand-off, and resumes it.
///
/// It may be shared by any number of threads; calls for one conversation wait for
/// each other. All of them block: from asynchronous code use `spawn_blocking`.
///
/// ```
/// use std::sync::Arc;
///
/// use lcp_continuity::store::{MemoryStore, NewConversation};
/// use lcp_continuity::{HandoffOptions, Message, SessionContinuityService};
/// use lcp_tokens::HeuristicEstimator;
///
/// let store = Arc::new(MemoryStore::new());
/// let service = SessionContinuityService::new(store, Arc::new(HeuristicEstimator));
/// let conversation = NewConversation {
///     id: "refactoring".into(),
///     window_tokens: 100_000,
///     output_reserve_tokens: 0,
/// };
/// service.open(&conversation)?;
/// service.record_message("refactoring", Message::user("Split parser.rs, please."))?;
/// service.record_message("refactoring", Message::assistant("DECISION: one file for each rule."))?;
///
/// let handoff = service.prepare_handoff("refactoring", 4_000, &HandoffOptions::default())?;
/// let resumed = service.resume_from_handoff(&handoff.handoff_id)?;
/// assert_eq!(resumed.restored_anchors[0].text, "one file for each rule.");
/// assert!(resumed.directive.text.contains("one file for each rule."));
/// # Ok::<(), lcp_continuity::Error>(())
/// ```
pub struct SessionContinuityService {
    store: Arc<dyn Store>,
    counter: Arc<dyn TokenEstimator>,
    tracker: ConversationTokenTracker,
    clock: Arc<dyn Clock>,
    config: ContinuityConfig,
    summarizer: Box<dyn Summarizer>,
    anchors: Box<dyn AnchorExtractor>,
    tasks: Box<dyn TaskExtractor>,
    listeners: Vec<Listener>,
    sessions: Mutex<HashMap<String, OpenSession>>,
    /// One at a time: to take a lease or a claim that is ours gives it again, and what
    /// two threads have of it is no longer exactly one's.
    opening: Mutex<()>,
    resuming: Mutex<()>,
}

impl SessionContinuityService {
    /// A service that keeps sessions in `store` and counts with `counter`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, counter: Arc<dyn TokenEstimator>) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        Self {
            store,
            tracker: ConversationTokenTracker::new(Arc::clone(&counter))
                .with_clock(Arc::clone(&clock)),
            counter,
            clock,
            config: ContinuityConfig::default(),
            summarizer: Box::new(ExtractiveSummarizer),
            anchors: Box::new(RuleAnchorExtractor),
            tasks: Box::new(ListTaskExtractor),
            listeners: Vec::new(),
            sessions: Mutex::default(),
            opening: Mutex::default(),
            resuming: Mutex::default(),
        }
    }

    /// This with another configuration.
    #[must_use]
    pub fn with_config(self, config: ContinuityConfig) -> Self {
        Self { config, ..self }
    }

    /// This with another clock, for the times that hand-offs tell. Leases run by the
    /// clock of the store.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        let tracker = ConversationTokenTracker::new(Arc::clone(&self.counter));
        Self { tracker: tracker.with_clock(Arc::clone(&clock)), clock, ..self }
    }

    /// This with another summariser: a model, or any program.
    #[must_use]
    pub fn with_summarizer(self, summarizer: impl Summarizer + 'static) -> Self {
        Self { summarizer: Box::new(summarizer), ..self }
    }

    /// This with other rules for what must not be lost.
    #[must_use]
    pub fn with_anchors(self, anchors: impl AnchorExtractor + 'static) -> Self {
        Self { anchors: Box::new(anchors), ..self }
    }

    /// This with other rules for what remains to be done.
    #[must_use]
    pub fn with_tasks(self, tasks: impl TaskExtractor + 'static) -> Self {
        Self { tasks: Box::new(tasks), ..self }
    }

    /// This, which tells `listener` of every event, in the thread that caused it,
    /// when nothing is locked.
    #[must_use]
    pub fn on_event(mut self, listener: impl Fn(&ContinuityEvent) + Send + Sync + 'static) -> Self {
        self.listeners.push(Box::new(listener));
        self
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// What is in force.
    #[must_use]
    pub fn config(&self) -> &ContinuityConfig {
        &self.config
    }

    fn notify(&self, event: &ContinuityEvent) {
        for listener in &self.listeners {
            listener(event);
        }
    }

    fn session(&self, conversation: &str) -> Result<Arc<Mutex<Session>>> {
        let sessions = lock(&self.sessions);
        let session = sessions.get(conversation).map(|(_, session)| Arc::clone(session));
        session.ok_or_else(|| Error::NotOpen(conversation.to_owned()))
    }

    /// Closes a conversation that was opened with this fence, not one that was reopened since.
    fn forget(&self, conversation: &str, fence: u64) {
        let mut sessions = lock(&self.sessions);
        if sessions.get(conversation).is_some_and(|(taken, _)| *taken == fence) {
            sessions.remove(conversation);
            self.tracker.forget(conversation);
        }
    }
}

/// Locks a mutex; what a thread that panicked left is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for SessionContinuityService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionContinuityService")
            .field("store", &self.store)
            .field("counter", &self.counter.name())
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
