//! The sessions of clients. Their number is limited, because each takes memory until it ends.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::{Stream, StreamExt as _};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

use super::metrics;

type Result<T, E = SessionsError> = std::result::Result<T, E>;

/// The sessions of clients.
///
/// If there are too many, the session that was idle for the longest time ends. Its client starts
/// another one when it sends its next request, as the protocol demands.
#[derive(Debug)]
pub(super) struct LimitedSessions {
    local: LocalSessionManager,
    max: usize,
    uses: Arc<Mutex<Uses>>,
    /// Held while a session is created, so that the limit also holds for simultaneous requests.
    creation: tokio::sync::Mutex<()>,
}

impl LimitedSessions {
    /// Creates an empty list for at most `max` sessions.
    pub(super) fn new(max: usize) -> Self {
        let (local, uses) = (LocalSessionManager::default(), Arc::default());
        Self { local, max, uses, creation: tokio::sync::Mutex::default() }
    }

    fn uses(&self) -> MutexGuard<'_, Uses> {
        lock(&self.uses)
    }
}

/// The uses of all sessions.
#[derive(Debug, Default)]
struct Uses {
    /// The number of uses of all sessions until now.
    count: u64,
    sessions: HashMap<SessionId, Use>,
}

/// The use of a session.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// The value of `count` at the last use.
    last: u64,
    /// The number of requests that are not answered yet.
    running: usize,
}

impl Uses {
    /// Records a use of a session, and changes the number of its running requests.
    fn record(&mut self, id: &SessionId, change: impl FnOnce(usize) -> usize) {
        self.count += 1;
        if let Some(session) = self.sessions.get_mut(id) {
            *session = Use { last: self.count, running: change(session.running) };
        }
    }

    /// Returns the session that was idle for the longest time.
    fn oldest_idle(&self) -> Option<SessionId> {
        let idle = self.sessions.iter().filter(|(_, session)| session.running == 0);
        idle.min_by_key(|(_, session)| session.last).map(|(id, _)| id.clone())
    }
}

fn lock(uses: &Mutex<Uses>) -> MutexGuard<'_, Uses> {
    uses.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request that is not answered yet.
struct Running {
    uses: Arc<Mutex<Uses>>,
    id: SessionId,
}

impl Running {
    fn begin(uses: &Arc<Mutex<Uses>>, id: &SessionId) -> Self {
        lock(uses).record(id, |running| running + 1);
        Self { uses: Arc::clone(uses), id: id.clone() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        lock(&self.uses).record(&self.id, |running| running.saturating_sub(1));
    }
}

/// An error of a session.
#[derive(Debug)]
pub(super) enum SessionsError {
    /// All sessions have running calls.
    Full(usize),
    Local(LocalSessionManagerError),
}

impl fmt::Display for SessionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(max) => write!(f, "all {max} sessions have running calls"),
            Self::Local(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SessionsError {}

impl From<LocalSessionManagerError> for SessionsError {
    fn from(error: LocalSessionManagerError) -> Self {
        Self::Local(error)
    }
}

impl SessionManager for LimitedSessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport)> {
        let _creation = self.creation.lock().await;
        while self.uses().sessions.len() >= self.max {
            let oldest = self.uses().oldest_idle().ok_or(SessionsError::Full(self.max))?;
            self.close_session(&oldest).await?;
        }
        let (id, transport) = self.local.create_session().await?;
        let mut uses = self.uses();
        uses.sessions.insert(id.clone(), Use::default());
        uses.record(&id, |running| running);
        metrics::set_sessions(uses.sessions.len());
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage> {
        let _running = Running::begin(&self.uses, id);
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool> {
        self.uses().record(id, |running| running);
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<()> {
        {
            let mut uses = self.uses();
            uses.sessions.remove(id);
            metrics::set_sessions(uses.sessions.len());
        }
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        let running = Running::begin(&self.uses, id);
        let answers = self.local.create_stream(id, message).await?;
        Ok(answers.inspect(move |_| {
            // The request runs as long as the stream of its answer.
            let _ = &running;
        }))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<()> {
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        Ok(self.local.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        Ok(self.local.resume(id, last_event).await?)
    }
}
