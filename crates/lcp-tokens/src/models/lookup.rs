//! Finds the row of the table for a model name as users write it.

use super::Model;

/// Prefixes of names before `.` (Bedrock) or `:`: regions, providers and hosts.
const BEFORE: &str = "us us-gov eu apac jp au ca global \
    ai21 anthropic azure azure-openai bedrock bedrock-converse deepseek fireworks google \
    google-genai google-gla google-vertex google-vertexai groq litellm meta mistral mistralai \
    ollama openai openai-chat openai-responses openrouter qwen together vertex-ai";

/// The parts that name a sibling with different limits, if they directly follow a prefix.
const SIBLINGS: &[&str] = &[
    "chat", "codex", "cyber", "distill", "flash", "lite", "max", "mini", "nano", "pro", "spark",
    "ultra",
];

/// The parts that name a model that is not for text and has different limits.
#[rustfmt::skip]
const KINDS: &[&str] = &[
    "audio", "embed", "embedding", "guard", "image", "live", "moderation", "realtime", "rerank",
    "reranker", "transcribe", "tts",
];

/// The maximum number of suggested names.
const SUGGESTIONS_MAX: usize = 5;

/// The maximum number of characters of a name that are compared for similarity.
const COMPARED_MAX: usize = 64;

/// Returns the model with this name.
pub(super) fn find<'m>(models: &'m [Model], name: &str) -> Option<&'m Model> {
    let whole = normalize(name);
    let bare = strip_provider(&whole);
    [whole.as_str(), bare].into_iter().find_map(|name| exact_match(models, name)).or_else(|| {
        [whole.as_str(), bare].into_iter().find_map(|name| longest_prefix(models, name))
    })
}

/// Returns a name in lower case, with `-` between words.
pub(super) fn normalize(name: &str) -> String {
    let words = |c: char| if c.is_whitespace() || c == '_' { '-' } else { c };
    name.trim().to_lowercase().chars().map(words).collect()
}

/// Removes the provider, region and fine-tune from the name of a model.
fn strip_provider(name: &str) -> &str {
    let mut bare = name.rsplit('/').next().unwrap_or(name);
    while let Some((before, rest)) = bare.split_once(['.', ':']) {
        if !BEFORE.split(' ').any(|known| known == before) {
            break;
        }
        bare = rest;
    }
    match bare.strip_prefix("ft:") {
        Some(tuned) => tuned.split(':').next().unwrap_or(tuned),
        None => bare,
    }
}

fn exact_match<'m>(models: &'m [Model], name: &str) -> Option<&'m Model> {
    models.iter().find(|model| model.spellings().any(|spelling| normalize(spelling) == name))
}

fn longest_prefix<'m>(models: &'m [Model], name: &str) -> Option<&'m Model> {
    // A model always takes precedence over a family, even if the prefix of the family is longer.
    let mut best: Option<((bool, usize), &Model)> = None;
    for model in models {
        for prefix in &model.prefixes {
            let prefix = normalize(prefix);
            let rank = (!model.is_family_default, prefix.len());
            let longer = best.is_none_or(|(so_far, _)| rank > so_far);
            if longer
                && prefix_matches(&prefix, name)
                && !(model.is_family_default && is_other_kind(name))
            {
                best = Some((rank, model));
            }
        }
    }
    best.map(|(_, model)| model)
}

/// Returns whether a prefix matches a name, by the rules of [`super::Models::find`].
fn prefix_matches(prefix: &str, name: &str) -> bool {
    let Some(rest) = name.strip_prefix(prefix) else { return false };
    if prefix.ends_with(|c: char| !c.is_alphanumeric()) {
        return !rest.is_empty();
    }
    if rest.is_empty() {
        return true;
    }
    // A point continues a version, as in gpt-4.1.
    if rest.starts_with(|c: char| c.is_alphanumeric() || c == '.') {
        return false;
    }
    let first = parts(rest).next().unwrap_or_default();
    !is_version(first) && !SIBLINGS.contains(&first) && !is_other_kind(rest)
}

fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_alphanumeric() && c != '.').filter(|part| !part.is_empty())
}

/// Returns whether a part is a version such as 4 or 3.5. More than two digits are a date or a
/// build.
fn is_version(part: &str) -> bool {
    let digits = part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    digits && (part.len() <= 2 || part.contains('.'))
}

fn is_other_kind(name: &str) -> bool {
    parts(name).any(|part| KINDS.contains(&part))
}

/// Returns the names of the models that are most similar to an unknown name.
pub(super) fn suggestions(models: &[Model], name: &str) -> Vec<String> {
    let whole = normalize(name);
    let asked: String = strip_provider(&whole).chars().take(COMPARED_MAX).collect();
    let mut found: Vec<(usize, &str)> = models
        .iter()
        .filter(|model| !model.is_family_default)
        .filter_map(|model| {
            let spellings = model.spellings().chain(model.prefixes.iter().map(String::as_str));
            let distance = spellings.filter_map(|known| distance(&asked, &normalize(known))).min();
            distance.map(|distance| (distance, model.name.as_str()))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, name)| name.to_owned()).take(SUGGESTIONS_MAX).collect()
}

/// Returns the edit distance of two similar names, or of a known name and the beginning of a longer
/// one.
fn distance(asked: &str, known: &str) -> Option<usize> {
    let (asked_length, known_length) = (asked.chars().count(), known.chars().count());
    let whole = strsim::damerau_levenshtein(asked, known);
    let most = (asked_length / 3).max(if asked_length < 4 { 1 } else { 2 });
    let whole = (whole <= most).then_some(whole);
    let beginning = (known_length >= 4 && known_length < asked_length).then(|| {
        let beginning: String = asked.chars().take(known_length).collect();
        strsim::damerau_levenshtein(&beginning, known)
    });
    // Additional characters increase the distance, but less than differing ones do.
    let follows = (asked_length.saturating_sub(known_length) / 2).max(1);
    let beginning = beginning.filter(|&edits| edits <= known_length / 4);
    let beginning = beginning.map(|edits| edits + follows);
    whole.into_iter().chain(beginning).min()
}
