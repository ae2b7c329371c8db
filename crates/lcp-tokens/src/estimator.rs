//! The trait of everything that counts tokens.

use std::sync::Arc;

use crate::truncate;

/// Counts the tokens of a text (SPEC_08 §2).
///
/// Only [`Self::estimate`] is required. The others say what is known of its
/// answers, and promise nothing by default; or answer what budgets ask besides
/// (RFC 0009 §6), by means of it by default.
pub trait TokenEstimator: Send + Sync {
    /// How many tokens `text` is: 0 for the empty text, and for no other.
    fn estimate(&self, text: &str) -> u32;

    /// Whether the answer is what the model's own tokenizer says, for any text.
    fn is_exact(&self) -> bool {
        false
    }

    /// Whether counts add up at the joins that [`is_additive_boundary`](crate::is_additive_boundary)
    /// describes: the count of two texts put together is then the sum of
    /// theirs.
    fn is_additive(&self) -> bool {
        false
    }

    /// The name in reports.
    #[expect(clippy::unnecessary_literal_bound, reason = "others have names made at run time")]
    fn name(&self) -> &str {
        "custom"
    }

    /// What everybody who sees the counts must know, where something was not as
    /// it was asked for: that this stands in for a tokenizer that could not be
    /// loaded. The driver puts it in every report.
    fn caveat(&self) -> Option<&str> {
        None
    }

    /// How many tokens `text` is, if that is `limit` at most.
    ///
    /// `Tiktoken` stops as soon as the limit is passed, so that it costs what
    /// `limit` tokens cost, however long the text is; others may count it all.
    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        Some(self.estimate(text)).filter(|count| *count <= limit)
    }

    /// The longest start of `text`, ending between two characters, that by
    /// itself counts `tokens` at most.
    ///
    /// It never counts more. `Tiktoken` finds the longest, and looks at no more
    /// than the limit needs; for the others counts are taken to grow with the
    /// text, which may miss a few characters.
    fn truncate_to<'t>(&self, text: &'t str, tokens: u32) -> &'t str {
        truncate::longest_prefix(text, |part| self.count_up_to(part, tokens).is_some())
    }

    /// The longest end of `text`, beginning between two characters, that by
    /// itself counts `tokens` at most; as [`Self::truncate_to`] otherwise.
    fn truncate_front_to<'t>(&self, text: &'t str, tokens: u32) -> &'t str {
        truncate::longest_suffix(text, |part| self.count_up_to(part, tokens).is_some())
    }

    /// Returns the length in bytes of a prefix of `text` whose count no appended text
    /// changes, and that count. The count of a longer text is that count plus the count of
    /// everything after the prefix.
    ///
    /// [`IncrementalCounter`](crate::IncrementalCounter) uses it. The default is an empty
    /// prefix.
    fn stable_prefix(&self, _text: &str) -> (usize, u32) {
        (0, 0)
    }

    /// Returns the same count as [`Self::estimate`], from the text alone and never from a
    /// cache: the count that a budget is checked with.
    fn recount(&self, text: &str) -> u32 {
        self.estimate(text)
    }

    /// Gives `write` everything that determines the counts, for example the vocabulary, so
    /// that cached counts are never taken for those of another estimator. Returns whether it
    /// did; by default it does not, and its counts are not cached.
    fn write_cache_key(&self, _write: &mut dyn FnMut(&[u8])) -> bool {
        false
    }
}

/// Returns the number of tokens of each text (seed 004, `ITokenCounter`). With the feature
/// `rayon` it uses rayon's threads; the counts are the same.
///
/// ```
/// use lcp_tokens::{HeuristicEstimator, count_batch};
///
/// assert_eq!(count_batch(&HeuristicEstimator, &["", "four", "twice as much"]), [0, 1, 3]);
/// ```
pub fn count_batch<E, S>(estimator: &E, texts: &[S]) -> Vec<u32>
where
    E: TokenEstimator + ?Sized,
    S: AsRef<str> + Sync,
{
    #[cfg(feature = "rayon")]
    {
        use rayon::prelude::*;
        texts.par_iter().map(|text| estimator.estimate(text.as_ref())).collect()
    }
    #[cfg(not(feature = "rayon"))]
    texts.iter().map(|text| estimator.estimate(text.as_ref())).collect()
}

/// Methods of [`TokenEstimator`] that forward to another estimator, `$to`, an expression of
/// `$self`.
macro_rules! forward {
    ($self:ident to $to:expr; $($method:ident),* $(,)?) => {
        $($crate::estimator::forward!(@$method $self $to);)*
    };
    (@estimate $self:ident $to:expr) => {
        fn estimate(&$self, text: &str) -> u32 {
            $to.estimate(text)
        }
    };
    (@is_exact $self:ident $to:expr) => {
        fn is_exact(&$self) -> bool {
            $to.is_exact()
        }
    };
    (@is_additive $self:ident $to:expr) => {
        fn is_additive(&$self) -> bool {
            $to.is_additive()
        }
    };
    (@name $self:ident $to:expr) => {
        fn name(&$self) -> &str {
            $to.name()
        }
    };
    (@caveat $self:ident $to:expr) => {
        fn caveat(&$self) -> Option<&str> {
            $to.caveat()
        }
    };
    (@limits $self:ident $to:expr) => {
        fn count_up_to(&$self, text: &str, limit: u32) -> Option<u32> {
            $to.count_up_to(text, limit)
        }
        fn truncate_to<'t>(&$self, text: &'t str, tokens: u32) -> &'t str {
            $to.truncate_to(text, tokens)
        }
        fn truncate_front_to<'t>(&$self, text: &'t str, tokens: u32) -> &'t str {
            $to.truncate_front_to(text, tokens)
        }
        fn stable_prefix(&$self, text: &str) -> (usize, u32) {
            $to.stable_prefix(text)
        }
    };
    (@recount $self:ident $to:expr) => {
        fn recount(&$self, text: &str) -> u32 {
            $to.recount(text)
        }
    };
    (@write_cache_key $self:ident $to:expr) => {
        fn write_cache_key(&$self, write: &mut dyn FnMut(&[u8])) -> bool {
            $to.write_cache_key(write)
        }
    };
}
pub(crate) use forward;

/// Whatever points to an estimator is one.
macro_rules! pointers {
    ($($pointer:ty),*) => {$(
        impl<T: TokenEstimator + ?Sized> TokenEstimator for $pointer {
            forward!(
                self to (**self);
                estimate, is_exact, is_additive, name, caveat, limits, recount, write_cache_key,
            );
        }
    )*};
}

pointers!(&T, Arc<T>, Box<T>);
