//! Checks of all hand-offs. They compare the messages and the packs directly, and do not rely on
//! the reports of the service.

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
    /// The number of anchors of all packages that are not superseded.
    pub(super) anchors: usize,
    /// The number of those that are in the last package, byte for byte as in their message.
    pub(super) anchors_identical: usize,
    /// The beginnings of the other anchors.
    pub(super) anchors_missing: Vec<String>,
    /// The number of tool calls of the input that have a result.
    pub(super) pairs: usize,
    /// The number of those whose call and result are separated in a package or a conversation.
    pub(super) pairs_split: usize,
    /// The largest number of tokens by which a resume prompt exceeds its target.
    pub(super) over_budget: u32,
    /// The number of resume prompts whose stated token count is wrong.
    pub(super) miscounted: usize,
}

/// The number of characters of an anchor to print as its name.
const NAME_CHARS: usize = 60;

impl Checks {
    /// Returns the result of all checks.
    ///
    /// # Errors
    ///
    /// Returns an error that lists the failed checks.
    pub(super) fn result(&self) -> Result {
        let missing = self.anchors - self.anchors_identical;
        let wrong: Vec<String> = [
            (missing, "anchor", "missing from the last package, or changed"),
            (self.pairs_split, "tool call", "separated from its result"),
            (self.over_budget as usize, "token", "over the target of a resume prompt"),
            (self.miscounted, "resume prompt", "with a wrong token count"),
        ]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, noun, what)| format!("{} {what}", lcp_driver::plural(count, noun)))
        .collect();
        if wrong.is_empty() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Io, wrong.join("; ")))
    }
}

/// Runs all checks.
///
/// # Errors
///
/// Returns an error if a package is not a valid pack.
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

/// Checks every anchor that was ever handed over and is not superseded.
fn anchors(story: &Story, last: &HandedOver, checks: &mut Checks) -> Result {
    let mut live: BTreeMap<&str, &AnchorPoint> = BTreeMap::new();
    for handed in &story.handed_over {
        for anchor in &handed.handoff.anchors {
            // The first occurrence counts.
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

/// Returns the number of pairs whose parts are in two conversations, or of which a package passes
/// on only one part verbatim.
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
