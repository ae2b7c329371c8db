//! Counts with a `tokenizer.json` of Hugging Face, by their own library.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use tokenizers::models::ModelWrapper;
use tokenizers::models::unigram::Unigram;
use tokenizers::pattern::{Invert, Pattern};
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::split::SplitPattern;
use tokenizers::{
    Model, OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer, SplitDelimiterBehavior,
    Tokenizer,
};

use super::charsmap::Charsmap;
use super::split::Splitter;
use super::{TokenizerFileError, TokenizerFileFormat};

/// The pattern of `ByteLevel`, which is that of GPT-2.
const BYTE_LEVEL: &str =
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// The maximum length of a word in a `WordPiece` model, whose time is cubic. Real models have 100.
const WORD_CHARS_MAX: usize = 256;

/// One step of the split into pieces.
enum Step {
    /// A split by a pattern. The library's own split stops silently if its engine gives up.
    Split { splitter: Splitter, behavior: SplitDelimiterBehavior, invert: bool },
    /// The split of `ByteLevel`, before its change of alphabet.
    ByteLevel { splitter: Splitter, add_prefix_space: bool },
    /// Any other step, implemented by the library.
    Other(PreTokenizerWrapper),
}

pub(super) struct HuggingFace {
    tokenizer: Tokenizer,
    steps: Vec<Step>,
}

impl HuggingFace {
    pub(super) fn new(bytes: &[u8]) -> Result<Self, TokenizerFileError> {
        let unknown = outline(bytes)?;
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(broken)?;
        // Text that looks like a special token counts as text, and the text is not truncated.
        tokenizer.set_encode_special_tokens(true);
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(broken)?;
        if let Some(model) = counting_model(&tokenizer, unknown)? {
            tokenizer.with_model(model);
        }
        let mut steps = Vec::new();
        if let Some(pre_tokenizer) = tokenizer.get_pre_tokenizer() {
            flatten(pre_tokenizer, &mut steps)?;
        }
        tokenizer.with_pre_tokenizer(None::<PreTokenizerWrapper>);
        let loaded = Self { tokenizer, steps };
        // Some contradictions only appear in use.
        loaded.count("A proof: é, 1\n").map_err(broken)?;
        Ok(loaded)
    }

    /// Returns the number of tokens of a text.
    ///
    /// # Errors
    ///
    /// Returns the message of the library if the vocabulary cannot express the text.
    pub(super) fn count(&self, text: &str) -> Result<u64, String> {
        let tokenizer = &self.tokenizer;
        let vocabulary = tokenizer.get_added_vocabulary();
        let mut pieces = vocabulary.extract_and_normalize(tokenizer.get_normalizer(), text);
        for step in &self.steps {
            step.apply(&mut pieces).map_err(|error| error.to_string())?;
        }
        let mut count = 0;
        for (piece, _, tokens) in pieces.get_splits(OffsetReferential::Normalized, OffsetType::None)
        {
            count += match tokens {
                Some(tokens) => tokens.len(),
                None => tokenizer.get_model().tokenize(piece).map_err(|e| e.to_string())?.len(),
            };
        }
        Ok(count as u64)
    }
}

impl Step {
    fn apply(&self, pieces: &mut PreTokenizedString) -> tokenizers::Result<()> {
        match self {
            Self::Split { splitter, behavior, invert: false } => {
                pieces.split(|_, piece| piece.split(SplitterPattern(splitter), *behavior))
            }
            Self::Split { splitter, behavior, invert: true } => {
                pieces.split(|_, piece| piece.split(Invert(SplitterPattern(splitter)), *behavior))
            }
            Self::ByteLevel { splitter, add_prefix_space } => pieces.split(|_, mut piece| {
                if *add_prefix_space && !piece.get().starts_with(' ') {
                    piece.prepend(" ");
                }
                piece.split(SplitterPattern(splitter), SplitDelimiterBehavior::Isolated)
            }),
            Self::Other(step) => step.pre_tokenize(pieces),
        }
    }
}

struct SplitterPattern<'a>(&'a Splitter);

impl Pattern for SplitterPattern<'_> {
    fn find_matches(&self, text: &str) -> tokenizers::Result<Vec<((usize, usize), bool)>> {
        let mut cuts = Vec::new();
        let mut last = 0;
        self.0.matches(text, |start, end| {
            if last < start {
                cuts.push(((last, start), false));
            }
            cuts.push(((start, end), true));
            last = end;
        });
        if last < text.len() || cuts.is_empty() {
            cuts.push(((last, text.len()), false));
        }
        Ok(cuts)
    }
}

fn flatten(step: &PreTokenizerWrapper, steps: &mut Vec<Step>) -> Result<(), TokenizerFileError> {
    let compile = |pattern: &str| {
        Splitter::new(pattern)
            .map_err(|error| broken(format!("cannot compile the pattern {pattern:?}: {error}")))
    };
    match step {
        PreTokenizerWrapper::Sequence(sequence) => {
            for step in sequence.as_ref() {
                flatten(step, steps)?;
            }
        }
        PreTokenizerWrapper::Split(split) => {
            let step = match &split.pattern {
                SplitPattern::String(_) => Step::Other(step.clone()),
                SplitPattern::Regex(pattern) => Step::Split {
                    splitter: compile(pattern)?,
                    behavior: split.behavior,
                    invert: split.invert,
                },
            };
            steps.push(step);
        }
        PreTokenizerWrapper::ByteLevel(step) if step.use_regex => {
            let add_prefix_space = step.add_prefix_space;
            steps.push(Step::ByteLevel { splitter: compile(BYTE_LEVEL)?, add_prefix_space });
            let alphabet = ByteLevel::new(false, step.trim_offsets, false);
            steps.push(Step::Other(PreTokenizerWrapper::ByteLevel(alphabet)));
        }
        other => steps.push(Step::Other(other.clone())),
    }
    Ok(())
}

const FORMAT: TokenizerFileFormat = TokenizerFileFormat::HuggingFace;

fn broken(reason: impl std::fmt::Display) -> TokenizerFileError {
    FORMAT.broken(reason)
}

/// Checks the model. Returns another model for counting if this one is not suitable.
fn counting_model(
    tokenizer: &Tokenizer,
    unknown: Option<usize>,
) -> Result<Option<ModelWrapper>, TokenizerFileError> {
    let model = tokenizer.get_model();
    let unknown_of = |token: &str| match model.token_to_id(token) {
        Some(_) => Ok(()),
        None => Err(broken(format!("the unknown token {token:?} is not in the vocabulary"))),
    };
    if model.get_vocab_size() == 0 {
        return Err(broken("the vocabulary is empty"));
    }
    match model {
        ModelWrapper::BPE(bpe) => {
            if let Some(token) = &bpe.unk_token {
                unknown_of(token)?;
            }
            // Random merges (dropout) are only for training.
            Ok(bpe.dropout.is_some().then(|| {
                let mut bpe = bpe.clone();
                bpe.dropout = None;
                ModelWrapper::BPE(bpe)
            }))
        }
        ModelWrapper::WordPiece(model) if model.max_input_chars_per_word > WORD_CHARS_MAX => {
            let most = model.max_input_chars_per_word;
            Err(FORMAT.unsupported("max_input_chars_per_word", most))
        }
        ModelWrapper::WordPiece(model) => unknown_of(&model.unk_token).map(|()| None),
        ModelWrapper::WordLevel(model) => unknown_of(&model.unk_token).map(|()| None),
        ModelWrapper::Unigram(model) => without_special(tokenizer, model, unknown),
    }
}

/// Renames the special tokens of a Unigram model, so that they do not match any text.
fn without_special(
    tokenizer: &Tokenizer,
    model: &Unigram,
    unknown: Option<usize>,
) -> Result<Option<ModelWrapper>, TokenizerFileError> {
    if unknown.is_none() {
        return Err(broken("the model has no unknown token"));
    }
    let added = tokenizer.get_added_vocabulary();
    let special = |token: &str| added.is_special_token(token);
    if model.iter().any(|(_, score)| !score.is_finite()) {
        return Err(broken("a score is not a number"));
    }
    if !model.iter().any(|(token, _)| special(token)) {
        return Ok(None);
    }
    let rename = |(token, score): &(String, f64)| {
        let token = if special(token) { format!("\u{FFFF}\u{FFFE}{token}") } else { token.clone() };
        (token, *score)
    };
    let vocabulary = model.iter().map(rename).collect();
    let model = Unigram::from(vocabulary, unknown, model.byte_fallback());
    model.map(|model| Some(ModelWrapper::Unigram(model))).map_err(broken)
}

/// The parts of the file that show features unknown to the library.
#[derive(Deserialize)]
struct Outline {
    version: Option<String>,
    model: Option<Part>,
    normalizer: Option<Part>,
    pre_tokenizer: Option<Part>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: Option<String>,
    unk_id: Option<usize>,
    #[serde(default)]
    normalizers: Vec<Part>,
    #[serde(default)]
    pretokenizers: Vec<Part>,
    precompiled_charsmap: Option<String>,
    /// The pattern and the replacement of a `Replace` normalizer.
    pattern: Option<serde_json::Value>,
    content: Option<serde_json::Value>,
    /// The text that a `Prepend` normalizer inserts at the beginning.
    prepend: Option<serde_json::Value>,
}

impl Part {
    /// Returns the maximum factor by which a normalizer can lengthen a text.
    fn growth(&self) -> usize {
        let bytes = |value: &Option<serde_json::Value>| {
            value.as_ref().and_then(serde_json::Value::as_str).map_or(0, str::len)
        };
        let sought = self.pattern.as_ref().and_then(|pattern| pattern.get("String")?.as_str());
        match sought.map_or(0, str::len) {
            // An empty pattern matches at every position, including those between characters.
            0 => 1 + bytes(&self.content) + bytes(&self.prepend),
            sought => bytes(&self.content).div_ceil(sought).max(1),
        }
    }
}

/// The maximum factor by which normalizers may lengthen a text.
const GROWTH_MAX: usize = 64;

const MODELS: [&str; 4] = ["BPE", "WordPiece", "WordLevel", "Unigram"];
#[rustfmt::skip]
const NORMALIZERS: [&str; 14] = [
    "BertNormalizer", "ByteLevel", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Nmt", "Precompiled",
    "Prepend", "Replace", "Sequence", "Strip", "StripAccents",
];
#[rustfmt::skip]
const PRE_TOKENIZERS: [&str; 12] = [
    "BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Digits", "FixedLength", "Metaspace",
    "Punctuation", "Sequence", "Split", "UnicodeScripts", "Whitespace", "WhitespaceSplit",
];

/// Checks the kinds of all parts, and returns the `unk_id` of a Unigram model.
fn outline(bytes: &[u8]) -> Result<Option<usize>, TokenizerFileError> {
    let outline: Outline = serde_json::from_slice(bytes).map_err(broken)?;
    if let Some(version) = outline.version.filter(|version| version != "1.0") {
        return Err(FORMAT.unsupported("version", version));
    }
    let Some(model) = outline.model else { return Err(broken("its `model` is null")) };
    let mut open = vec![("model", &MODELS[..], &model)];
    open.extend(outline.normalizer.iter().map(|part| ("normalizer", &NORMALIZERS[..], part)));
    let cuts = outline.pre_tokenizer.iter();
    open.extend(cuts.map(|part| ("pre-tokenizer", &PRE_TOKENIZERS[..], part)));
    let mut growth = 1usize;
    while let Some((what, known, part)) = open.pop() {
        if what == "normalizer" {
            growth = growth.saturating_mul(part.growth());
            if growth > GROWTH_MAX {
                let times = format!("growth by a factor of {growth}");
                return Err(FORMAT.unsupported(what, times));
            }
        }
        if let Some(kind) = &part.kind
            && !known.contains(&kind.as_str())
        {
            return Err(FORMAT.unsupported(what, kind));
        }
        if let Some(table) = &part.precompiled_charsmap {
            let table = BASE64_STANDARD.decode(table).map_err(broken)?;
            Charsmap::new(&table)
                .map_err(|error| broken(format!("precompiled_charsmap: {error}")))?;
        }
        open.extend(part.normalizers.iter().map(|part| (what, known, part)));
        open.extend(part.pretokenizers.iter().map(|part| (what, known, part)));
    }
    Ok(model.unk_id)
}
