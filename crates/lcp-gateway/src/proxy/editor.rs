//! The edit of a request with its store.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use foldhash::fast::RandomState;
use hyper::body::Bytes;
use lcp_app::config::Config;
use lcp_app::tokenizer::TokenizerOptions;
use lcp_app::{Error, ErrorKind, Result, Silent};
use lcp_driver::window::ContextWindow;
use lcp_tokens::TokenEstimator;
use lcp_transcripts::Format;

use super::recent::{Arrived, Arriving, Recent};
use super::text::Text;
use crate::bill::Stats;
use crate::body::Segment;
use crate::decisions::Hash;
use crate::hash_chain::{HashChain, Previous};
use crate::request::{Api, CachedMessages, Request};
use crate::rewrite::{DeferredCounts, Policy, Reason, Rewritten, rewrite};
use crate::store::{
    CachedParts, Checkpoints, EditTransaction, Originals, Row, Store, Unedited, edit_name,
};
use crate::usage::ReportedUsage;

/// The window that the header of a request asks for, in tokens.
const LONG_WINDOW: u32 = 1_000_000;

/// The maximum number of models whose rules are kept. Clients choose the names.
const MODELS_MAX: usize = 64;

/// The maximum number of counts that are remembered of a model. Each has about 40 bytes.
const COUNTS_MAX: usize = 1 << 15;

/// The session of requests that cannot be read and have no header that names one.
const UNKNOWN_SESSION: &str = "unknown";

/// The options of edits.
#[derive(Clone, Debug)]
pub struct EditOptions {
    /// The folder of the store.
    pub data: PathBuf,
    /// The number of tokens that a request should have at most. By default, the settings or the model decide.
    pub budget: Option<u32>,
    /// `true` to send all requests as they came, and only compute the savings of edits.
    pub dry_run: bool,
    /// The number of days after which originals and figures are deleted.
    pub keep_days: u32,
    /// The settings.
    pub settings: Config,
}

/// The editor of a gateway.
pub(super) struct Editor {
    store: Mutex<Store>,
    checkpoints: Mutex<Checkpoints>,
    options: EditOptions,
    originals: String,
    recent: Recent,
    models: Mutex<HashMap<(String, bool), Arc<ModelRules>>>,
    /// The number of requests that could not be edited or recorded.
    failures: AtomicU64,
}

/// The budget and the tokenizer of a model.
struct ModelRules {
    budget: u32,
    limit: u32,
    estimator: Arc<dyn TokenEstimator>,
    /// `true` if a response reported tokens that the provider wrote to its cache.
    reports_writes: AtomicBool,
    /// Token counts by the hash of the text or of the beginning.
    counts: Mutex<HashMap<Hash, u32, RandomState>>,
}

impl ModelRules {
    fn counts(&self) -> MutexGuard<'_, HashMap<Hash, u32, RandomState>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the count that belongs to a hash.
    fn store_count(&self, hash: &Hash, count: u32) {
        let mut counts = self.counts();
        if counts.len() >= COUNTS_MAX {
            counts.clear();
        }
        counts.insert(*hash, count);
    }
}

/// The facts that the path and the headers of a request tell.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    /// The id of the session, if a header has it.
    pub(super) session: Option<String>,
    /// `true` if the client asked for a window of a million tokens.
    pub(super) has_long_window: bool,
    /// `true` if the request only counts tokens.
    pub(super) is_count: bool,
}

/// An edited request.
pub(super) struct Edited {
    /// The parts of the edited body. `None` if the body of the client is sent.
    pub(super) body: Option<Vec<Bytes>>,
    pub(super) sent: SentRequest,
}

/// A request that was sent, and whose usage will be recorded.
pub(super) struct SentRequest {
    row: Row,
    /// It is `None` for a request that could not be edited.
    edit: Option<SentEdit>,
}

/// The facts about an edit that are recorded with the usage.
struct SentEdit {
    /// It is `None` if the usage cannot show that nothing is cached.
    expirable: Option<ExpirableParts>,
    model: Arc<ModelRules>,
    deferred_counts: DeferredCounts,
}

/// The parts of a request that expire if its usage shows that they are not cached.
struct ExpirableParts {
    parts: CachedParts,
    /// The bytes of the head and of the request, if the client does not ask to cache messages.
    head: Option<(u64, u64)>,
}

impl SentRequest {
    /// Creates the record of a request that could not be edited, and that arrived at `start`. Its session is
    /// that of a header, and its model that of the response.
    pub(super) fn unedited(context: &Context, reason: Unedited, start: Instant) -> Self {
        let session = context.session.clone().unwrap_or_else(|| UNKNOWN_SESSION.to_owned());
        let (micros, unedited) = (micros_since(start), Some(reason));
        Self { row: Row { time: now(), session, micros, unedited, ..Row::default() }, edit: None }
    }
}

impl Editor {
    pub(super) fn new(options: EditOptions) -> Result<Self> {
        let folder = folder(&options.data, options.dry_run);
        let store = Store::open(&folder, options.keep_days)?;
        let originals = store.originals().folder().display().to_string();
        Ok(Self {
            store: Mutex::new(store),
            checkpoints: Mutex::new(Checkpoints::open(&folder)?),
            options,
            originals,
            recent: Recent::default(),
            models: Mutex::default(),
            failures: AtomicU64::default(),
        })
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        // A transaction that a panic interrupted was rolled back.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to read a request.
    pub(super) fn arriving(&self, api: Api) -> Arriving<'_> {
        self.recent.arriving(api)
    }

    /// Reads a request. Returns `None` if it is not UTF-8.
    pub(super) fn read_decoded(&self, api: Api, bytes: &[u8]) -> Option<Arrived> {
        let mut arriving = self.arriving(api);
        arriving.add(bytes, bytes.len());
        arriving.finish().ok()
    }

    /// Edits a request, passes it to `send`, and stores the data that later requests need. Returns a record if the
    /// request could not be edited. If `send` was called nevertheless, only storing failed, and the record must be
    /// dropped.
    pub(super) fn edit(
        &self,
        api: Api,
        Arrived { text, outline, common }: Arrived,
        context: &Context,
        start: Instant,
        send: impl FnOnce(Edited),
    ) -> Option<SentRequest> {
        let Some(mut request) = Request::parse_after(api, &text, outline, common) else {
            return Some(SentRequest::unedited(context, Unedited::Unsupported, start));
        };
        let model = self.model(&request.model, context.has_long_window);
        if model.reports_writes.load(Ordering::Relaxed) {
            request.set_reports_writes();
        }
        let send = |mut edited: Edited| {
            edited.sent.row.micros = micros_since(start);
            send(edited);
        };
        let chain = self.edit_request(api, &request, &text, (context, model), send);
        let unedited = chain.as_ref().err().map(|reason| {
            self.add_failure(reason);
            let (micros, unedited) = (micros_since(start), Some(Unedited::Failed));
            let row = Row { micros, unedited, ..row(&request, context, now()) };
            SentRequest { row, edit: None }
        });
        let messages = request.outline.messages.len();
        request.outline.previous =
            chain.ok().map(|chain| Previous { chain: chain.into(), messages });
        let outline = request.outline;
        self.recent.add(api, text, outline);
        unedited
    }

    fn edit_request(
        &self,
        api: Api,
        request: &Request<'_>,
        body: &Text,
        (context, model): (&Context, Arc<ModelRules>),
        send: impl FnOnce(Edited),
    ) -> Result<HashChain, EditFailure> {
        let now = now();
        let mut store = self.store();
        let originals = store.originals().clone();
        let edit = store.begin(now)?;
        let mut rewritten = self.rewrite(api, request, &model, &edit, &originals)?;
        edit.check()?;
        let edited = self.edited(request, body, context, &edit, (&mut rewritten, model, now));
        // The request that is counted here will be sent with the same decisions.
        if context.is_count {
            send(edited);
            return Ok(rewritten.chain);
        }
        if !self.options.dry_run {
            edit.write_originals(request, &rewritten)?;
        }
        let has_stubs = rewritten.edits.iter().any(|edit| edit.reason != Reason::Duplicate);
        if rewritten.is_known && !has_stubs && !edit.has_changes(&rewritten) {
            // Commit while the provider reads the request. If the commit fails, the new results are judged
            // again, with the same outcome.
            send(edited);
            edit.commit(request, &rewritten)?;
        } else {
            edit.commit(request, &rewritten)?;
            send(edited);
        }
        Ok(rewritten.chain)
    }

    /// Returns an edited request.
    fn edited(
        &self,
        request: &Request<'_>,
        body: &Text,
        context: &Context,
        edit: &EditTransaction<'_>,
        (rewritten, model, now): (&mut Rewritten<'_>, Arc<ModelRules>, i64),
    ) -> Edited {
        let edits = rewritten.edits.iter().map(|edit| edit_name(edit.reason).to_owned()).collect();
        let row = Row { edits, ..row(request, context, now) };
        let is_sent = rewritten.body.is_edited() && !self.options.dry_run;
        let is_unasked = request.cache.messages == CachedMessages::Unasked;
        let expirable = request.cache.reports_writes.then(|| {
            let results = rewritten.cached_results.iter();
            // Requests with marks may have cached a result.
            let results = results.filter(|key| !is_unasked || !edit.is_cached(key)).cloned();
            let segments = rewritten.body.segments().map(|segment| segment.as_str().len());
            let bytes = if is_sent { segments.sum() } else { request.body.len() };
            ExpirableParts {
                parts: CachedParts {
                    beginnings: rewritten.beginnings.iter().map(|it| it.hash).collect(),
                    results: results.collect(),
                },
                head: is_unasked.then_some((request.head_bytes() as u64, bytes as u64)),
            }
        });
        let deferred_counts = std::mem::take(&mut rewritten.deferred_counts);
        let edit = SentEdit { expirable, model, deferred_counts };
        let bytes = body.to_bytes();
        let parts = rewritten.body.segments().map(|segment| match segment {
            Segment::Original(part) => bytes.slice_ref(part.as_bytes()),
            Segment::New(string) => Bytes::copy_from_slice(string.as_bytes()),
        });
        Edited {
            body: is_sent.then(|| parts.collect()),
            sent: SentRequest { row, edit: Some(edit) },
        }
    }

    /// Edits a request, and validates the edit.
    fn rewrite<'b>(
        &self,
        api: Api,
        request: &Request<'b>,
        model: &ModelRules,
        edit: &EditTransaction<'_>,
        originals: &Originals,
    ) -> Result<Rewritten<'b>, EditFailure> {
        let gateway = &self.options.settings.gateway;
        let policy = Policy {
            budget: model.budget,
            limit: model.limit,
            estimator: &*model.estimator,
            decision: &|key| edit.decision(key),
            cached: &|hash| edit.cached(hash),
            cached_call: &|call| edit.cached_call(call),
            is_warm: &|key| edit.is_warm(key, &request.model),
            original: &|hash| originals.path(hash).display().to_string(),
            // What was asked for again must not be cut again.
            is_raw: &|tool, arguments| {
                reads_from(arguments, &self.originals) || gateway.keeps(tool, arguments)
            },
            order: &|body| lcp_app::rank::results_by_need(format(api), body),
            stored_count: &|hash| model.counts().get(hash).copied(),
            store_count: &|hash, count| model.store_count(hash, count),
        };
        let rewritten = rewrite(request, &policy);
        if !request.differs_only_in_results(&rewritten.body) {
            return Err(EditFailure::Invalid);
        }
        Ok(rewritten)
    }

    /// Returns the rules of a model.
    fn model(&self, name: &str, has_long_window: bool) -> Arc<ModelRules> {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (name.to_owned(), has_long_window);
        if models.len() >= MODELS_MAX && !models.contains_key(&key) {
            models.clear();
        }
        Arc::clone(models.entry(key).or_insert_with(|| Arc::new(self.rules(name, has_long_window))))
    }

    fn rules(&self, name: &str, has_long_window: bool) -> ModelRules {
        let settings = &self.options.settings;
        let tokenizer =
            TokenizerOptions { model: Some(name.to_owned()), ..TokenizerOptions::default() };
        let model = tokenizer.find_model(settings, true).ok().and_then(|(model, _)| model);
        let available = model.as_ref().map(|model| {
            let window = model.value.window;
            let window = if has_long_window { window.max(LONG_WINDOW) } else { window };
            ContextWindow::from_model(window).available().unwrap_or(u32::MAX)
        });
        let estimator = tokenizer.load(settings, model.as_ref(), false, &Silent);
        // Without a known window, there are only references.
        let budget = self.options.budget.or(settings.gateway.budget).or(available);
        let budget = budget.unwrap_or(u32::MAX);
        ModelRules {
            budget,
            limit: available.unwrap_or(budget),
            estimator: estimator
                .map_or_else(|_| Arc::new(lcp_tokens::HeuristicEstimator) as _, |it| it.estimator),
            reports_writes: AtomicBool::default(),
            counts: Mutex::default(),
        }
    }

    /// Records a request with the usage of its response.
    pub(super) fn record(&self, sent: SentRequest, reported: Option<ReportedUsage>) {
        let SentRequest { mut row, edit } = sent;
        row.usage = reported.as_ref().map(|reported| reported.usage);
        if let Some(edit) = edit {
            self.record_edit(&mut row, edit);
        } else if row.model.is_empty() {
            row.model = reported.and_then(|reported| reported.model).unwrap_or_default();
        }
        // The write after a checkpoint waits for the disk, so it must not be that of a request. If a checkpoint
        // fails, the next one copies more.
        let mut checkpoints = self.checkpoints.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = checkpoints.add_request();
        drop(checkpoints);
        let recorded = self.store().add_usage(&row);
        self.check_recorded(recorded);
    }

    fn check_recorded(&self, recorded: lcp_store::sqlite::Result<()>) {
        if let Err(error) = recorded {
            self.add_failure(&format_args!("cannot record the usage of a request: {error}"));
        }
    }

    /// Records whether the provider caches a request, and adds the savings of edits, in its tokens.
    fn record_edit(&self, row: &mut Row, edit: SentEdit) {
        let SentEdit { model, expirable, deferred_counts } = edit;
        let usage = row.usage.unwrap_or_default();
        if usage.written + usage.written_hour > 0 {
            model.reports_writes.store(true, Ordering::Relaxed);
        }
        let expired = expirable.filter(|it| usage.is_uncached(it.head));
        let is_uncached = expired.is_some();
        // If the next request arrives before this, its prefix counts as cached. So tokens are counted later.
        if let Some(ExpirableParts { parts, .. }) = expired {
            let expired = self.store().expire(&parts, &row.model, row.time);
            self.check_recorded(expired);
        }
        let counts =
            deferred_counts.count(&*model.estimator, &|hash, count| model.store_count(hash, count));
        let billed = usage.request_tokens();
        // In a dry run, the bill is that of the request without edits.
        let own = match counts.tokens {
            0 => 0,
            edited if self.options.dry_run => {
                u64::from(edited) + u64::from(counts.saved.0) + u64::from(counts.saved.1)
            }
            edited => u64::from(edited),
        };
        let scaled = |part: u32| (u64::from(part) * billed).checked_div(own).unwrap_or(part.into());
        let (warm, cold) = (scaled(counts.saved.0), scaled(counts.saved.1));
        if is_uncached {
            row.saved_tokens = (0, warm + cold);
        } else {
            row.saved_tokens = (warm, cold);
            row.broken_tokens = scaled(counts.broken);
        }
    }

    /// Loads the tokenizers of both providers, so that the first request does not wait for them.
    pub(super) fn load_tokenizers() {
        for name in ["claude", "o200k_base"] {
            lcp_tokens::or_fallback(lcp_tokens::tokenizer_by_name(name)).estimate("\n");
        }
    }

    /// Deletes the data that are older than the options say.
    pub(super) fn delete_old(&self) {
        // If this fails, the next run an hour later deletes them.
        let _ = self.store().delete_old(now());
    }

    /// Returns the figures.
    pub(super) fn stats(&self) -> Result<Stats> {
        stats_of(&self.store(), self.options.dry_run)
    }

    /// Counts and logs a request that could not be edited or recorded. The reason must not contain
    /// contents of requests.
    pub(super) fn add_failure(&self, reason: &dyn Display) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        #[cfg(feature = "tracing")]
        tracing::warn!(target: "lcp_gateway", "{reason}");
        let _ = reason;
    }

    /// Returns the number of requests that could not be edited or recorded.
    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Returns the folder of the originals.
    pub(super) fn originals(&self) -> &str {
        &self.originals
    }
}

/// The failure of an edit.
enum EditFailure {
    /// The edit changed more than results of tools.
    Invalid,
    Store(lcp_store::sqlite::Error),
}

impl Display for EditFailure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid => {
                f.write_str("cannot edit a request: the edit changed more than results of tools")
            }
            Self::Store(error) => write!(f, "cannot edit a request: {error}"),
        }
    }
}

impl From<lcp_store::sqlite::Error> for EditFailure {
    fn from(error: lcp_store::sqlite::Error) -> Self {
        Self::Store(error)
    }
}

/// Returns the figures of the gateways that use a folder.
///
/// # Errors
///
/// Returns an error if the store cannot be opened or read.
pub fn read_stats(data: &Path, dry_run: bool) -> Result<Stats> {
    let folder = folder(data, dry_run);
    if !Store::exists(&folder) {
        let message = format!("no gateway has used {}", folder.display());
        let hint = if dry_run {
            "run `lcp run --dry-run` or `lcp proxy --dry-run` first, or pass --data"
        } else if Store::exists(&self::folder(data, true)) {
            "pass --dry-run to print the figures of dry runs"
        } else {
            "run `lcp run` or `lcp proxy` first, or pass --data"
        };
        return Err(Error::new(ErrorKind::Io, message).with_hint(hint));
    }
    stats_of(&Store::open(&folder, u32::MAX)?, dry_run)
}

fn stats_of(store: &Store, dry_run: bool) -> Result<Stats> {
    let rows = store
        .usage()
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot read the figures: {error}")))?;
    Ok(Stats::new(&rows, dry_run))
}

/// Returns the folder of a store. A dry run has its own, because its decisions were never sent.
fn folder(data: &Path, dry_run: bool) -> PathBuf {
    if dry_run { data.join("dry-run") } else { data.to_owned() }
}

/// Returns whether arguments name a folder. On Windows, its backslashes are escaped in them, perhaps
/// twice.
fn reads_from(arguments: &str, folder: &str) -> bool {
    arguments.contains(folder)
        || folder.contains('\\') && arguments.replace('\\', "").contains(&folder.replace('\\', ""))
}

const fn format(api: Api) -> Format {
    match api {
        Api::Anthropic => Format::Anthropic,
        Api::OpenAiChat => Format::OpenAiChat,
        Api::OpenAiResponses => Format::OpenAiResponses,
    }
}

/// Returns the record of a request, without its edits and its usage.
fn row(request: &Request<'_>, context: &Context, time: i64) -> Row {
    let session = context.session.clone().or_else(|| request.session.clone());
    let session = session.unwrap_or_else(|| request.first_message_id());
    Row { time, session, model: request.model.clone(), ..Row::default() }
}

fn micros_since(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX)
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_is_that_of_the_options_of_the_settings_or_of_the_model() {
        let folder = tempfile::tempdir().unwrap();
        let limits = |option: Option<u32>, setting: Option<u32>, model: &str, is_long: bool| {
            let mut settings = Config::default();
            settings.gateway.budget = setting;
            let data = folder.path().to_owned();
            let options =
                EditOptions { data, budget: option, dry_run: false, keep_days: 7, settings };
            let rules = Editor::new(options).unwrap().rules(model, is_long);
            (rules.budget, rules.limit)
        };
        let claude = "claude-sonnet-4-5";
        assert_eq!(limits(None, None, claude, false), (160_000, 160_000));
        assert_eq!(limits(None, None, claude, true), (800_000, 800_000));
        assert_eq!(limits(None, Some(9_000), claude, false), (9_000, 160_000));
        assert_eq!(limits(Some(8_000), Some(9_000), claude, false), (8_000, 160_000));
        // A model with an unknown window.
        assert_eq!(limits(None, None, "my-model", false), (u32::MAX, u32::MAX));
        assert_eq!(limits(Some(8_000), None, "my-model", false), (8_000, 8_000));
    }

    #[test]
    fn folder_of_originals_is_recognized_in_arguments() {
        let windows = r"C:\Users\me\originals";
        let file = serde_json::json!({ "file_path": format!(r"{windows}\a.txt") }).to_string();
        let twice = serde_json::json!({ "arguments": file }).to_string();
        assert!(reads_from(&file, windows) && reads_from(&twice, windows));
        assert!(reads_from("{\"command\":\"cat /data/originals/a.txt\"}", "/data/originals"));
        assert!(!reads_from("{\"file_path\":\"/data/a.txt\"}", "/data/originals"));
    }
}
