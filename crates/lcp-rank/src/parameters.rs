//! The parameters of the formula. RFC 0014 §4 says how they were chosen, on past commits of four
//! repositories.

/// The weights of the signals of a file. Most signals are between 0 and 1.
pub(crate) const WORDS: f64 = 1.5;
pub(crate) const IDENTIFIERS: f64 = 2.2;
pub(crate) const SINGLE_IDENTIFIERS: f64 = 1.3;
pub(crate) const DEFINITIONS: f64 = 1.0;
pub(crate) const PATH: f64 = 1.5;
pub(crate) const PASSAGE: f64 = 1.1;
pub(crate) const BIGRAMS: f64 = 1.6;
pub(crate) const VOTES: f64 = 0.85;
pub(crate) const FOLDER_VOTES: f64 = 0.5;
pub(crate) const RECENT: f64 = 1.65;
pub(crate) const FOLDER_RECENT: f64 = 1.5;
pub(crate) const FOLDER_ACTIVITY: f64 = -1.65;
pub(crate) const COMPANION: f64 = 0.85;
pub(crate) const CO_CHANGE: f64 = 0.95;
pub(crate) const MENTION: f64 = 4.0;
pub(crate) const TEST: f64 = -1.8;
pub(crate) const DOCUMENT: f64 = -3.1;
pub(crate) const OTHER: f64 = -3.8;

/// Of words: the weight of each field (folders, name, definitions, body), the effect of its length
/// from 0 to 1, and the number of occurrences with half of the effect of many.
pub(crate) const FIELD_WEIGHTS: [f64; 4] = [3.0, 5.0, 2.0, 1.0];
pub(crate) const FIELD_B: [f64; 4] = [0.3, 0.3, 0.5, 0.9];
pub(crate) const FIELD_K1: f64 = 3.0;
/// The weight of an identifier in the name of a definition.
pub(crate) const IDENTIFIER_DEFINITIONS: f64 = 3.0;
/// The number of words and identifiers that count, those of the highest weight × IDF.
pub(crate) const TERMS: usize = 120;
/// The parameter k1 of BM25 elsewhere.
pub(crate) const K1: f64 = 1.2;
/// The minimum divisor of the path signal: a path of one word is not better than one of two.
pub(crate) const PATH_WORDS_MIN: f64 = 2.0;

/// The caps: a signal is divided by its largest value or by cap × ln(1 + files), whichever is larger,
/// so that weak evidence does not count as much as strong evidence.
pub(crate) const SINGLE_IDENTIFIERS_CAP: f64 = 3.0;
pub(crate) const DEFINITIONS_CAP: f64 = 2.8;
pub(crate) const BIGRAMS_CAP: f64 = 1.4;

/// Of past commits: the ages, in commits, at which their weight is half, and the power of the
/// similarity of a message.
pub(crate) const VOTE_HALF_LIFE: f64 = 500.0;
pub(crate) const VOTE_POWER: f64 = 3.0;
pub(crate) const FOLDER_VOTE_HALF_LIFE: f64 = 150.0;
pub(crate) const FOLDER_RECENT_HALF_LIFE: f64 = 20.0;
pub(crate) const FOLDER_ACTIVITY_HALF_LIFE: f64 = 400.0;
/// Of files that changed together with the best ones: the number of best files, the age at which the
/// weight of a commit is half, and what is added to the changes of a best file and of the other file,
/// so that few changes prove little.
pub(crate) const CO_CHANGE_FILES: usize = 10;
pub(crate) const CO_CHANGE_HALF_LIFE: f64 = 400.0;
pub(crate) const CO_CHANGE_MIN: f64 = 0.5;
pub(crate) const CO_CHANGE_ALONE: f64 = 3.0;
/// The number of files changed more recently that halves the value of a recent change.
pub(crate) const RECENT_FILES: f64 = 5.0;

/// A test is at most this far below the file that it tests.
pub(crate) const TEST_FOLLOWS: f64 = 3.0;

/// Of the order: the number of best files that stay in place, the end of the part that no other file
/// enters, and the place from which tests lose less. Of files with nearly equal scores, smaller ones
/// come first, because more of them fit.
pub(crate) const ORDER_FIXED: usize = 1;
pub(crate) const ORDER_FIRST: usize = 10;
pub(crate) const ORDER_DEEP: usize = 20;
pub(crate) const ORDER_SIZE: f64 = 0.5;
pub(crate) const ORDER_TOKENS: f64 = 1000.0;
pub(crate) const DEEP_TEST: f64 = 1.5;

/// The number of files whose passages are read.
pub(crate) const PASSAGE_FILES: usize = 60;
/// The number of files that are parsed. Files further below are rarely shown, and runs of lines do as
/// well for their order.
pub(crate) const PARSED_FILES: usize = 12;
/// Of passages: the effect of their length, the occurrences that the name of a definition adds, and
/// the weight of words that are adjacent but not in one identifier.
pub(crate) const PASSAGE_B: f64 = 0.3;
pub(crate) const PASSAGE_NAME: f64 = 3.0;
pub(crate) const BIGRAM_ADJACENT: f64 = 0.5;
/// The power of the best passage of a file.
pub(crate) const PASSAGE_POWER: f64 = 2.0;
/// The target number of lines of a chunk. A section of more than 1.5 times as many is divided.
pub(crate) const PASSAGE_LINES: usize = 30;

/// The weights of the order of passages: the score of the file; the words of the passage, compared
/// with all passages and with those of its file; bigrams; the name; the beginning of a file, such as
/// imports; the logarithms of the number of passages of the file and of the tokens; tests; lines that
/// the question names.
pub(crate) const ORDER_FILE: f64 = 0.9;
pub(crate) const ORDER_WORDS: f64 = 1.5;
pub(crate) const ORDER_WORDS_OF_FILE: f64 = 1.7;
pub(crate) const ORDER_BIGRAMS: f64 = 0.5;
pub(crate) const ORDER_NAME: f64 = 0.3;
pub(crate) const ORDER_HEAD: f64 = 0.4;
pub(crate) const ORDER_PASSAGES: f64 = -0.5;
pub(crate) const ORDER_PASSAGE_TOKENS: f64 = -0.7;
pub(crate) const ORDER_TEST: f64 = -2.0;
pub(crate) const ORDER_NAMED_LINE: f64 = 5.0;
