//! What a service tells of, as it happens.

use crate::model::{ResumedSession, SessionHandoff, TokenUsage};

/// What happened. It is told after what it tells of is durable.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContinuityEvent {
    /// A conversation comes near the end of its window.
    LimitApproaching(ContextLimitApproachingEvent),
    /// A hand-off was prepared and is kept.
    HandoffPrepared(Box<SessionHandoffPreparedEvent>),
    /// A hand-off was resumed.
    SessionResumed(Box<SessionResumedEvent>),
}

/// A conversation comes near the end of its window.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextLimitApproachingEvent {
    /// The conversation.
    pub conversation_id: String,
    /// The part of its window that is used.
    pub utilization: f32,
    /// How many more turns of average length fit.
    pub remaining_turns: u32,
    /// What is used.
    pub usage: TokenUsage,
}

/// A hand-off was prepared and is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionHandoffPreparedEvent {
    /// The hand-off.
    pub handoff: SessionHandoff,
}

/// A hand-off was resumed.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionResumedEvent {
    /// The session that begins.
    pub session: ResumedSession,
}
