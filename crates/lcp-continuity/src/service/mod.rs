//! The session service: records messages, prepares hand-offs and resumes them.

mod build_handoff;
mod check;
mod compact;
mod lease;
mod open;
mod record;
mod resume;
mod session;
mod usage;
mod window;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lcp_tokens::TokenEstimator;

pub use check::{CheckOutcome, CheckResult};
pub use resume::ResumeOptions;
pub use usage::ConversationUsage;

use crate::error::{Error, Result};
use crate::events::ContinuityEvent;
use crate::extract::{
    AnchorExtractor, ExtractiveSummarizer, ListTaskExtractor, RuleAnchorExtractor, Summarizer,
    TaskExtractor,
};
use crate::holder;
use crate::model::{Clock, HandoffOptions, Recorded, SystemClock};
use crate::store::Store;
use crate::tracker::ConversationTokenTracker;
use crate::trigger::{Thresholds, TriggerMode};
use session::Session;

/// Configuration of a [`SessionContinuityService`].
#[derive(Clone, Debug, PartialEq)]
pub struct ContinuityConfig {
    /// The choice whether [`SessionContinuityService::check`] prepares a hand-off that is due or only
    /// reports it (`continuity.auto`).
    pub mode: TriggerMode,
    /// The thresholds at which a hand-off is due. No conversation can be opened with invalid
    /// thresholds (see [`Thresholds::validate`]).
    pub thresholds: Thresholds,
    /// The token budget of the directive of an automatic hand-off. Default: a quarter of the
    /// effective window.
    pub target_token_budget: Option<u32>,
    /// Options of automatic hand-offs. Anchors that these options list as superseded are also left
    /// out of the memory of a compaction.
    pub handoff: HandoffOptions,
    /// The name of this holder among all that share the store: 1 to 256 bytes. The default
    /// identifies the process. If that process ends without releasing its leases and claims, other
    /// processes on the same machine take them at once (on Linux, see
    /// [`holder_has_ended`](crate::holder_has_ended)).
    ///
    /// Two services that run at the same time must not use the same name, because each would own
    /// the leases and claims of the other. An agent with a fixed name can reopen its conversations
    /// at once after a crash, but others must wait for its leases to expire.
    pub holder: String,
    /// The duration of a lease or claim. A machine that fails loses them after this time. Default:
    /// 5 minutes.
    pub lease: Duration,
    /// The maximum time for which opening or resuming a conversation waits for another holder.
    /// Default: 0.
    pub wait: Duration,
}

impl Default for ContinuityConfig {
    fn default() -> Self {
        Self {
            mode: TriggerMode::Automatic,
            thresholds: Thresholds::default(),
            target_token_budget: None,
            handoff: HandoffOptions::default(),
            holder: holder::unique_name(),
            lease: Duration::from_secs(5 * 60),
            wait: Duration::ZERO,
        }
    }
}

/// An open conversation, with the fence of the lease under which it was opened.
type OpenSession = (u64, Arc<Mutex<Session>>);

/// Returns the older files that the newest request needs.
type FileSelector = Box<dyn Fn(&[Recorded]) -> Vec<String> + Send + Sync>;

type Listener = Box<dyn Fn(&ContinuityEvent) + Send + Sync>;

/// Records the messages of sessions, decides when a session should be handed over, prepares the
/// hand-off, and resumes it.
///
/// A service may be shared by any number of threads. Calls for the same conversation wait for each
/// other. All calls block; in asynchronous code use `spawn_blocking`.
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
    needed_files: FileSelector,
    listeners: Vec<Listener>,
    sessions: Mutex<HashMap<String, OpenSession>>,
    /// Serializes the calls that take a lease. Taking a lease that this service already holds
    /// succeeds, so two threads could otherwise both own it. `resuming` does the same for claims.
    opening: Mutex<()>,
    resuming: Mutex<()>,
}

impl SessionContinuityService {
    /// Creates a service that stores sessions in `store` and counts tokens with `counter`.
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
            needed_files: Box::new(|_| Vec::new()),
            listeners: Vec::new(),
            sessions: Mutex::default(),
            opening: Mutex::default(),
            resuming: Mutex::default(),
        }
    }

    /// Sets the configuration.
    #[must_use]
    pub fn with_config(self, config: ContinuityConfig) -> Self {
        Self { config, ..self }
    }

    /// Sets the clock for the times recorded in hand-offs. Leases use the clock of the store.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        let tracker = ConversationTokenTracker::new(Arc::clone(&self.counter));
        Self { tracker: tracker.with_clock(Arc::clone(&clock)), clock, ..self }
    }

    /// Sets the summarizer, such as a model or an external program.
    #[must_use]
    pub fn with_summarizer(self, summarizer: impl Summarizer + 'static) -> Self {
        Self { summarizer: Box::new(summarizer), ..self }
    }

    /// Sets the rules that find anchors.
    #[must_use]
    pub fn with_anchors(self, anchors: impl AnchorExtractor + 'static) -> Self {
        Self { anchors: Box::new(anchors), ..self }
    }

    /// Sets the rules that find pending tasks.
    #[must_use]
    pub fn with_tasks(self, tasks: impl TaskExtractor + 'static) -> Self {
        Self { tasks: Box::new(tasks), ..self }
    }

    /// Sets the rule that finds the older files that the newest request needs, the most important
    /// last. The state in hand-offs lists them even if many others were used since.
    #[must_use]
    pub fn with_needed_files(
        self,
        select: impl Fn(&[Recorded]) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        Self { needed_files: Box::new(select), ..self }
    }

    /// Adds a listener for events. It is called in the thread that caused the event, while no lock
    /// is held.
    #[must_use]
    pub fn on_event(mut self, listener: impl Fn(&ContinuityEvent) + Send + Sync + 'static) -> Self {
        self.listeners.push(Box::new(listener));
        self
    }

    /// Returns the store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns the configuration.
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

    /// Closes a conversation that was opened with this fence. A conversation that was reopened
    /// since is left open.
    fn forget(&self, conversation: &str, fence: u64) {
        let mut sessions = lock(&self.sessions);
        if sessions.get(conversation).is_some_and(|(taken, _)| *taken == fence) {
            sessions.remove(conversation);
            self.tracker.forget(conversation);
        }
    }
}

/// Locks a mutex, even if a thread panicked while holding it: the data is consistent at every point
/// where a thread can panic.
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
