//! Events of the session service.

use crate::model::{ResumedSession, SessionHandoff, TokenUsage};

/// An event of the session service. It is sent after the change it reports is durable.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContinuityEvent {
    /// A conversation is close to the end of its context window.
    LimitApproaching(ContextLimitApproachingEvent),
    /// A hand-off was prepared and stored.
    HandoffPrepared(Box<SessionHandoffPreparedEvent>),
    /// A hand-off was resumed.
    SessionResumed(Box<SessionResumedEvent>),
}

/// A conversation is close to the end of its context window.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextLimitApproachingEvent {
    /// The conversation.
    pub conversation_id: String,
    /// The fraction of the window that is used.
    pub utilization: f32,
    /// The number of further turns of average length that fit.
    pub remaining_turns: u32,
    /// The token usage of the conversation.
    pub usage: TokenUsage,
}

/// A hand-off was prepared and stored.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionHandoffPreparedEvent {
    /// The hand-off.
    pub handoff: SessionHandoff,
}

/// A hand-off was resumed.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionResumedEvent {
    /// The new session.
    pub session: ResumedSession,
}
