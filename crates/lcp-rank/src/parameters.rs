//! The parameters of the formula. RFC 0014 gives the effect of each.

/// The weight of each field: folders, name, definitions, body.
pub(crate) const FIELD_WEIGHTS: [f64; 4] = [3.0, 5.0, 2.0, 1.0];
/// The effect of the length of each field, from 0 to 1.
pub(crate) const FIELD_B: [f64; 4] = [0.3, 0.3, 0.5, 0.9];
/// The number of occurrences with half of the effect of many.
pub(crate) const K1: f64 = 4.0;
/// The weight of an identifier in the names of definitions.
pub(crate) const IDENTIFIER_DEFINITIONS: f64 = 3.0;
/// Of pairs of words: the weight, the weights of words that are adjacent but not in one identifier,
/// of definitions and of the name of the file, and the number of occurrences as in [`K1`].
pub(crate) const PAIR: f64 = 0.5;
pub(crate) const PAIR_ADJACENT: f64 = 0.5;
pub(crate) const PAIR_DEFINITIONS: f64 = 2.0;
pub(crate) const PAIR_NAME: f64 = 3.0;
pub(crate) const PAIR_K1: f64 = 1.5;
/// The power of the weight of a term in the question.
pub(crate) const TERM_POWER: f64 = 0.5;
/// The number of terms that count, the weightiest and rarest.
pub(crate) const TERMS: usize = 120;

/// The weights of the best passage, of past commits, of mentions, and of recent changes, where the
/// lexical score of the best file is 1.
pub(crate) const BEST_PASSAGE: f64 = 0.6;
pub(crate) const VOTES: f64 = 0.6;
pub(crate) const MENTION: f64 = 1.0;
pub(crate) const RECENT: f64 = 0.2;
/// The factor of a recent change, in addition to 1.
pub(crate) const RECENT_FACTOR: f64 = 0.2;
/// The number of files changed more recently that halves the weight of a recent change.
pub(crate) const RECENT_FILES: f64 = 20.0;

/// Of the order: the number of best files that stay in place. Of files with nearly equal scores,
/// smaller ones come first, because more of them fit: scores are divided by a power of the tokens,
/// with another power after the first ten files.
pub(crate) const ORDER_FIXED: usize = 2;
pub(crate) const ORDER_FIRST: usize = 10;
pub(crate) const ORDER_FIRST_POWER: f64 = 0.3;
pub(crate) const ORDER_POWER: f64 = 0.5;
/// The tokens that are added to those of each file.
pub(crate) const ORDER_TOKENS: f64 = 1000.0;

/// The factors of files that questions seldom ask for.
pub(crate) const TESTS: f64 = 0.7;
pub(crate) const DOCUMENTS: f64 = 0.4;
pub(crate) const OTHERS: f64 = 0.4;
pub(crate) const GENERATED: f64 = 0.1;

/// Of past commits: the number after which a vote counts half, and the parameters of BM25.
pub(crate) const VOTE_HALF_LIFE: f64 = 500.0;
pub(crate) const VOTE_K1: f64 = 1.2;
pub(crate) const VOTE_B: f64 = 0.75;

/// The number of files whose passages are scored.
pub(crate) const PASSAGE_FILES: usize = 60;
/// Of passages: the parameters of BM25, the occurrences that the name of a definition adds, and the
/// share of the score of the file that a passage without terms has.
pub(crate) const PASSAGE_K1: f64 = 1.2;
pub(crate) const PASSAGE_B: f64 = 0.4;
pub(crate) const PASSAGE_NAME: f64 = 3.0;
/// The weight of pairs of words in passages.
pub(crate) const PASSAGE_PAIR: f64 = 0.7;
pub(crate) const PASSAGE_FLOOR: f64 = 0.5;
/// The power of the size of a passage by which its score is divided.
pub(crate) const PASSAGE_SIZE: f64 = 0.2;
