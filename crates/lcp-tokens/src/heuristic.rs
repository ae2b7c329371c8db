//! The two heuristic estimators of SPEC_08: fast, rough, and the same on every machine.

use crate::TokenEstimator;

/// Estimates bytes ÷ 4, but at least 1 for a text that is not empty (SPEC_08 §2).
///
/// The text of SPEC_08 refers to characters, but its code counts bytes. This estimator follows the
/// code. On English text it is within a factor of 2.
///
/// ```
/// use lcp_tokens::{HeuristicEstimator, TokenEstimator};
///
/// assert_eq!(HeuristicEstimator.estimate(""), 0);
/// assert_eq!(HeuristicEstimator.estimate("a"), 1);
/// assert_eq!(HeuristicEstimator.estimate("twelve bytes"), 3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeuristicEstimator;

impl TokenEstimator for HeuristicEstimator {
    fn estimate(&self, text: &str) -> u32 {
        by_bytes(text, 4)
    }

    fn name(&self) -> &'static str {
        "heuristic"
    }

    fn write_cache_key(&self, write: &mut dyn FnMut(&[u8])) -> bool {
        write(b"heuristic/1");
        true
    }
}

/// Estimates bytes ÷ 3 if more than 30 % of the lines begin with a space or a tab, else bytes ÷ 4,
/// but at least 1 for a text that is not empty (SPEC_08 §2).
///
/// ```
/// use lcp_tokens::{CodeAwareEstimator, TokenEstimator};
///
/// assert_eq!(CodeAwareEstimator.estimate("fn a() {\n    b();\n}\n"), 6); // 20 ÷ 3
/// assert_eq!(CodeAwareEstimator.estimate("Twenty bytes of prose"), 5); // 21 ÷ 4
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeAwareEstimator;

impl TokenEstimator for CodeAwareEstimator {
    fn estimate(&self, text: &str) -> u32 {
        let (mut lines, mut indented) = (0usize, 0usize);
        for line in text.lines() {
            lines += 1;
            indented += usize::from(line.starts_with([' ', '\t']));
        }
        let code = lines > 0 && indented * 100 / lines > 30;
        by_bytes(text, if code { 3 } else { 4 })
    }

    fn name(&self) -> &'static str {
        "code-aware"
    }

    fn write_cache_key(&self, write: &mut dyn FnMut(&[u8])) -> bool {
        write(b"code-aware/1");
        true
    }
}

fn by_bytes(text: &str, bytes_per_token: usize) -> u32 {
    if text.is_empty() {
        return 0;
    }
    u32::try_from(text.len() / bytes_per_token).unwrap_or(u32::MAX).max(1)
}
