//! The trait of token counters.

use std::sync::Arc;

use crate::truncate;

/// Counts the tokens of a text (SPEC_08 §2).
///
/// Only [`Self::estimate`] is required. Other methods describe the counts, and guarantee nothing by
/// default. The rest answer further questions about budgets (RFC 0009 §6), and use `estimate` by
/// default.
pub trait TokenEstimator: Send + Sync {
    /// Returns the number of tokens of `text`. It is 0 only for the empty text.
    fn estimate(&self, text: &str) -> u32;

    /// Returns whether the counts equal those of the tokenizer of the model, for any text.
    fn is_exact(&self) -> bool {
        false
    }

    /// Returns whether counts add up at the boundaries that
    /// [`is_additive_boundary`](crate::is_additive_boundary) describes: the count of two
    /// concatenated texts is then the sum of their counts.
    fn is_additive(&self) -> bool {
        false
    }

    /// Returns the name for reports.
    #[expect(clippy::unnecessary_literal_bound, reason = "others have names made at run time")]
    fn name(&self) -> &str {
        "custom"
    }

    /// Returns a warning for readers of the counts, for example that this estimator replaces a
    /// tokenizer that could not be loaded. The driver adds it to every report.
    fn caveat(&self) -> Option<&str> {
        None
    }

    /// Returns the number of tokens of `text` if it is at most `limit`.
    ///
    /// `Tiktoken` stops as soon as the limit is exceeded, so its cost depends on `limit` and not on
    /// the length of the text. Other estimators may count the whole text.
    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        Some(self.estimate(text)).filter(|count| *count <= limit)
    }

    /// Returns the longest prefix of `text` that ends between two characters and has at most
    /// `tokens` tokens by itself.
    ///
    /// The result never exceeds the limit. `Tiktoken` finds the longest prefix and reads no more
    /// text than it needs. Other estimators assume that counts grow with the text, so the result
    /// may be a few characters too short.
    fn truncate_to<'t>(&self, text: &'t str, tokens: u32) -> &'t str {
        truncate::longest_prefix(text, |part| self.count_up_to(part, tokens).is_some())
    }

    /// Returns the longest suffix of `text` that begins between two characters and has at most
    /// `tokens` tokens by itself. In other respects it is like [`Self::truncate_to`].
    fn truncate_front_to<'t>(&self, text: &'t str, tokens: u32) -> &'t str {
        truncate::longest_suffix(text, |part| self.count_up_to(part, tokens).is_some())
    }

    /// Returns the length in bytes of a prefix of `text` whose count does not depend on later text,
    /// and its count. The count of a longer text is this count plus the count of the text after the
    /// prefix.
    ///
    /// [`IncrementalCounter`](crate::IncrementalCounter) uses it. The default is an empty prefix.
    fn stable_prefix(&self, _text: &str) -> (usize, u32) {
        (0, 0)
    }

    /// Returns the same count as [`Self::estimate`], but never from a cache. Budgets are checked
    /// with this count.
    fn recount(&self, text: &str) -> u32 {
        self.estimate(text)
    }

    /// Passes everything that determines the counts, such as the vocabulary, to `write`, so that
    /// cached counts are never confused with those of another estimator.
    ///
    /// Returns whether it did so. The default returns `false`, and then the counts are not cached.
    fn write_cache_key(&self, _write: &mut dyn FnMut(&[u8])) -> bool {
        false
    }
}

/// Returns the number of tokens of each text (seed 004, `ITokenCounter`). The feature `rayon` uses
/// the threads of rayon, with the same counts.
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

/// Implements methods of [`TokenEstimator`] that forward to another estimator, `$to`, an expression
/// of `$self`.
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

/// Implements [`TokenEstimator`] for pointers to an estimator.
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
