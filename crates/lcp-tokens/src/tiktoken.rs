//! OpenAI's encodings, exactly, vocabularies built in.

use std::fmt;
use std::sync::OnceLock;

use crate::TokenEstimator;
use crate::bpe::{Bpe, Pattern};

/// The encodings whose vocabularies are built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// GPT-4o, GPT-4.1, GPT-5, o1, o3, o4-mini.
    O200kBase,
    /// GPT-3.5-turbo, GPT-4.
    Cl100kBase,
    /// gpt-oss. Counts ordinary text as `o200k_base` does.
    O200kHarmony,
    /// Codex and the later GPT-3 models.
    P50kBase,
    /// GPT-2 and the first GPT-3 models.
    R50kBase,
}

impl Encoding {
    /// Every encoding.
    pub const ALL: [Self; 5] =
        [Self::O200kBase, Self::Cl100kBase, Self::O200kHarmony, Self::P50kBase, Self::R50kBase];

    /// The name that OpenAI gives it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
            Self::O200kHarmony => "o200k_harmony",
            Self::P50kBase => "p50k_base",
            Self::R50kBase => "r50k_base",
        }
    }

    /// The encoding with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|encoding| encoding.name() == name)
    }

    /// Whether a run of white space is cut at its last newline, and so counts
    /// add up at joins; the two old encodings do not.
    const fn cuts_at_newlines(self) -> bool {
        !matches!(self, Self::P50kBase | Self::R50kBase)
    }

    /// The engine, loaded at its first use. `o200k_harmony` has other special
    /// tokens than `o200k_base`, and the same ordinary ones.
    fn engine(self) -> &'static Bpe {
        macro_rules! engine {
            ($pattern:expr, $vocabulary:literal, $id:literal) => {{
                static ENGINE: OnceLock<Bpe> = OnceLock::new();
                let packed = include_bytes!(concat!("../data/", $vocabulary, ".pairs"));
                ENGINE.get_or_init(|| Bpe::new($pattern, packed, $id))
            }};
        }
        match self {
            Self::O200kBase | Self::O200kHarmony => engine!(Pattern::O200k, "o200k_base", 0),
            Self::Cl100kBase => engine!(Pattern::Cl100k, "cl100k_base", 1),
            Self::P50kBase => engine!(Pattern::Gpt2, "p50k_base", 2),
            Self::R50kBase => engine!(Pattern::Gpt2, "r50k_base", 3),
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Exact counts in one of OpenAI's encodings.
///
/// All text is ordinary text: `<|endoftext|>` in a file counts as the
/// characters it is made of. The vocabulary is loaded at the first count and
/// shared.
///
/// ```
/// use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
///
/// let counter = Tiktoken::new(Encoding::O200kBase);
/// assert_eq!(counter.estimate("hello world"), 2);
/// assert!(counter.is_exact());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiktoken {
    encoding: Encoding,
}

impl Tiktoken {
    /// The counter for an encoding.
    #[must_use]
    pub const fn new(encoding: Encoding) -> Self {
        Self { encoding }
    }
}

impl TokenEstimator for Tiktoken {
    fn estimate(&self, text: &str) -> u32 {
        let count = self.encoding.engine().count(text);
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn is_additive(&self) -> bool {
        self.encoding.cuts_at_newlines()
    }

    fn name(&self) -> &str {
        self.encoding.name()
    }
}
