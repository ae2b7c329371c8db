//! Mode must hold after all hand-offs, looked up in the messages themselves and in
//! the packs, whatever the service says of it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use lcp_continuity::AnchorPoint;
use lcp_decoder::DecodeOptions;
use lcp_tokens::TokenEstimator;
use lcp_types::BlockContent;

use super::drive::{HandedOver, Story};
use lcp_app::{Error, ErrorKind};
use lcp_cli::Result;

/// The results of the checks.
#[derive(Default)]
pub(super) struct Checks {
    /// Anchors of any package that nothing superseded.
    pub(super) anchors: usize,
    /// Those that stand in the last package, byte for byte as in their message.
    pub(super) anchors_identical: usize,
    /// How the others begin.
    pub(super) anchors_missing: Vec<String>,
    /// Tool calls of the input that have a result.
    pub(super) pairs: usize,
    /// Those of which a package or a conversation has one part alone.
    pub(super) pairs_split: usize,
    /// Tokens by which a directive exceeds its target, at worst.
    pub(super) over_budget: u32,
    /// Directives whose tokens are not what they say.
    pub(super) miscounted: usize,
}

/// Characters of an anchor that name it.
const NAME_CHARS: usize = 60;

impl Checks {
    /// # Errors
    ///
    /// If anything does not hold.
    pub(super) fn result(&self) -> Result {
        let missing = self.anchors - self.anchors_identical;
        let wrong: Vec<String> = [
            (missing, "anchors are not in the last package as they were said"),
            (self.pairs_split, "tool calls are separated from their results"),
            (self.over_budget as usize, "tokens are over a directive's target"),
            (self.miscounted, "directives have other tokens than they say"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
        if wrong.is_empty() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Io, wrong.join("; ")))
    }
}

/// Checks everything.
///
/// # Errors
///
/// A package that is no pack.
pub(super) fn check(story: &Story, counter: &dyn TokenEstimator) -> Result<Checks> {
    let mut checks = Checks { pairs: story.pairs.len(), ..Checks::default() };
    for handed in &story.handed_over {
        let (directive, target) = (&handed.directive, handed.handoff.metadata.target_tokens);
        let tokens = counter.estimate(&directive.text);
        checks.over_budget = checks.over_budget.max(tokens.saturating_sub(target));
        checks.miscounted += usize::from(tokens != directive.tokens);
    }
    checks.pairs_split = split(story);
    if let Some(last) = story.handed_over.last() {
        anchors(story, last, &mut checks)?;
    }
    Ok(checks)
}

/// Every anchor that was ever handed over, and that nothing superseded.
fn anchors(story: &Story, last: &HandedOver, checks: &mut Checks) -> Result {
    let mut live: BTreeMap<&str, &AnchorPoint> = BTreeMap::new();
    for handed in &story.handed_over {
        for anchor in &handed.handoff.anchors {
            // The first time it was said counts.
            live.entry(&anchor.id).or_insert(anchor);
        }
        for (id, _) in &handed.handoff.superseded {
            live.remove(id.as_str());
        }
    }
    let texts = texts(&last.pack)?;
    let messages: HashMap<(&str, u64), usize> = story
        .places
        .iter()
        .enumerate()
        .map(|(at, (conversation, position))| ((conversation.as_str(), *position), at))
        .collect();
    let said = |anchor: &AnchorPoint| {
        let source = (anchor.source.conversation.as_str(), anchor.source.message);
        let message = messages.get(&source).map(|at| story.messages[*at].text());
        message.is_some_and(|text| text.contains(&anchor.text))
    };
    checks.anchors = live.len();
    for anchor in live.into_values() {
        if texts.contains(anchor.text.as_bytes()) && said(anchor) {
            checks.anchors_identical += 1;
        } else {
            let begins: String = anchor.text.chars().take(NAME_CHARS).collect();
            checks.anchors_missing.push(format!("{} {begins:?}", anchor.kind.title()));
        }
    }
    Ok(())
}

/// Returns the texts of the documents of a pack.
fn texts(pack: &[u8]) -> Result<HashSet<Vec<u8>>> {
    let pack = lcp_decoder::decode(pack, DecodeOptions::default())
        .map_err(|error| Error::new(ErrorKind::Malformed, format!("{error} (the last package)")))?;
    let documents = pack.blocks.iter().filter_map(|block| match &block.content {
        BlockContent::Document(document) => Some(document.content.as_slice().to_vec()),
        _ => None,
    });
    Ok(documents.collect())
}

/// Pairs whose parts are in two conversations, or of which a package hands one part
/// over as it is and not the other.
fn split(story: &Story) -> usize {
    let mut split = BTreeSet::new();
    let place = |at: usize| &story.places[at];
    for pair @ (call, result) in &story.pairs {
        if place(*call).0 != place(*result).0 {
            split.insert(*pair);
        }
    }
    for handed in &story.handed_over {
        let handoff = &handed.handoff;
        let recent: HashSet<u64> = handoff.recent.iter().map(|recent| recent.position).collect();
        let has = |at: usize| {
            let (conversation, position) = place(at);
            *conversation == handoff.conversation_id && recent.contains(position)
        };
        let is_split = |pair: &&(usize, usize)| has(pair.0) != has(pair.1);
        split.extend(story.pairs.iter().filter(is_split).copied());
    }
    split.len()
}
