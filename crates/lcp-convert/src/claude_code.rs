//! Sessions of Claude Code: JSON lines, messages of Anthropic among them.
//!
//! Its streams (`stream-json`) have the same lines. What the program notes beside a
//! message, ids and times and places, is no part of the conversation.

use std::collections::HashMap;

use lcp_types::Role;
use serde_json::value::RawValue;

use crate::anthropic::{OF_ANSWERS, parts};
use crate::build::Builder;
use crate::json::{self, Fields};
use crate::{Format, Imported, Result, jsonl, tags};

/// What lines of a session have, and those of others do not.
const OURS: [&str; 5] = ["uuid", "sessionId", "session_id", "leafUuid", "messageId"];

/// What a result was to the program; the message has what the model saw of it.
const RESULTS: [&str; 2] = ["toolUseResult", "tool_use_result"];

/// Marks of turns that people do not see as theirs.
const META: [&str; 3] = ["isMeta", "isVisibleInTranscriptOnly", "isApiErrorMessage"];

/// Imports a session.
pub(crate) fn import(bytes: &[u8]) -> Result<Imported> {
    let mut session = Session::default();
    let looked_for = "lines with a \"type\" and a \"uuid\" or a \"sessionId\"";
    jsonl::import(Format::ClaudeCode, looked_for, bytes, |builder, value| {
        session.line(builder, value)
    })
}

#[derive(Default)]
struct Session {
    /// The answer that the next line may go on with: its id and its sidechain.
    open: Option<(String, Option<String>)>,
    /// The sidechain of each line that has one, by the line's id.
    sidechains: HashMap<String, String>,
}

impl Session {
    fn line(&mut self, builder: &mut Builder, value: &RawValue) -> bool {
        let Some(fields) = Fields::read(value) else {
            builder.aside("line", value.get());
            return false;
        };
        let kind = fields.string("type").unwrap_or_else(|| "line".to_owned());
        let is = |key: &str| fields.get(key).and_then(json::boolean) == Some(true);
        let is_meta = META.iter().any(|key| is(key));
        let is_ours = OURS.iter().any(|key| fields.get(key).is_some());
        let sidechain = self.sidechain(&fields);
        let role = match kind.as_str() {
            "user" => Some(Role::User),
            "assistant" => Some(Role::Assistant),
            _ => None,
        };
        if let Some(role) = role.filter(|_| !is_meta)
            && let Some(message) = fields.get("message").and_then(Fields::read)
            && message.get("content").is_some()
        {
            self.message(builder, role, sidechain, message);
            if RESULTS.iter().any(|key| fields.get(key).is_some()) {
                builder.skip(RESULTS[0]);
            }
            return true;
        }
        let name = match fields.string("subtype") {
            _ if is_meta => format!("{kind}.meta"),
            Some(subtype) => format!("{kind}.{subtype}"),
            None => kind,
        };
        builder.aside(&name, value.get());
        is_ours
    }

    fn message(
        &mut self,
        builder: &mut Builder,
        role: Role,
        sidechain: Option<String>,
        mut message: Fields<'_>,
    ) {
        let id = message.string("id").filter(|_| role == Role::Assistant);
        let key = id.map(|id| (id, sidechain.clone()));
        let content = message.take("content");
        // Each part of an answer has a line of its own.
        if key.is_none() || self.open != key {
            builder.message(role);
            if let Some(sidechain) = sidechain {
                builder.message_tag(tags::SIDECHAIN, &sidechain);
            }
        }
        self.open = key;
        if let Some(content) = content {
            parts::content(builder, content);
        }
        for key in OF_ANSWERS.iter().chain(&["role"]) {
            message.take(key);
        }
        if let Some(rest) = message.rest_json() {
            builder.aside("message", &rest);
        }
    }

    /// The sidechain that a line belongs to: the agent, the call that it works for, else
    /// the line that it began with.
    fn sidechain(&mut self, fields: &Fields<'_>) -> Option<String> {
        if let Some(call) = fields.string("parent_tool_use_id") {
            return Some(call);
        }
        fields.get("isSidechain").and_then(json::boolean).filter(|is| *is)?;
        let own = fields.string("uuid");
        let parent = fields.string("parentUuid");
        let chain = fields
            .string("agentId")
            .or_else(|| self.sidechains.get(&parent?).cloned())
            .or_else(|| own.clone())
            .unwrap_or_default();
        if let Some(own) = own {
            self.sidechains.insert(own, chain.clone());
        }
        Some(chain)
    }
}
