//! The vocabularies of the encodings: built in, or loaded at run time.

use std::sync::OnceLock;

use crate::bpe::{Bpe, Data, Pattern, hash};

/// A vocabulary in its packed form, a file that `cargo xtask gen-vocab` wrote.
struct Vocabulary {
    name: &'static str,
    pattern: Pattern,
    /// The size of the file in bytes.
    bytes: usize,
    /// The hash of the file. The engine trusts its numbers.
    hash: u64,
    /// The file and its tables, if they are built in.
    data: Option<Data>,
}

/// Returns the row of a vocabulary, which is built in if its feature is on.
macro_rules! row {
    ($feature:literal, $name:literal, $pattern:expr, $bytes:literal, $hash:literal) => {{
        #[cfg(feature = $feature)]
        let data = {
            /// Bytes that begin at a cache line, so that no number in them belongs to two.
            #[repr(align(64))]
            struct Aligned<T: ?Sized>(T);
            static TABLES: &Aligned<[u8]> =
                &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".tables")));
            let packed = include_bytes!(concat!("../data/", $name, ".bpe"));
            Some(Data { packed, tables: &TABLES.0 })
        };
        #[cfg(not(feature = $feature))]
        let data = None;
        Vocabulary { name: $name, pattern: $pattern, bytes: $bytes, hash: $hash, data }
    }};
}

const COUNT: usize = 4;

static VOCABULARIES: [Vocabulary; COUNT] = [
    row!("o200k", "o200k_base", Pattern::O200k, 1_199_988, 0x9236_94E0_4F45_BDDE),
    row!("cl100k", "cl100k_base", Pattern::Cl100k, 601_536, 0x4938_1B91_3255_3FB2),
    row!("p50k", "p50k_base", Pattern::Gpt2, 301_686, 0x2BE9_71E8_6BEF_D3D8),
    row!("r50k", "r50k_base", Pattern::Gpt2, 301_542, 0xB712_AC5B_7466_CE7F),
];

/// The files that were loaded, in the order of the rows.
static LOADED: [OnceLock<Data>; COUNT] = [const { OnceLock::new() }; COUNT];

static ENGINES: [OnceLock<Bpe>; COUNT] = [const { OnceLock::new() }; COUNT];

fn index(name: &str) -> Option<usize> {
    VOCABULARIES.iter().position(|vocabulary| vocabulary.name == name)
}

fn data(index: usize) -> Option<Data> {
    VOCABULARIES[index].data.or_else(|| LOADED[index].get().copied())
}

/// Returns whether a vocabulary is built in or was loaded.
pub(crate) fn is_available(name: &str) -> bool {
    index(name).is_some_and(|index| data(index).is_some())
}

/// Returns the engine of a vocabulary, which is created at its first use.
///
/// # Panics
///
/// Panics if the vocabulary is not available.
pub(crate) fn engine(name: &str) -> &'static Bpe {
    let index = index(name).expect("each encoding has a vocabulary");
    ENGINES[index].get_or_init(|| {
        let data = data(index);
        let data = data.unwrap_or_else(|| panic!("the vocabulary {name} is not loaded"));
        Bpe::new(VOCABULARIES[index].pattern, data, index)
    })
}

/// The reason why a vocabulary cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VocabularyError {
    /// No encoding has a vocabulary with this name.
    #[error("unknown vocabulary {name:?}; expected one of: {}", names())]
    UnknownName {
        /// The name.
        name: String,
    },
    /// The bytes are not those of the vocabulary.
    #[error("not the file of the vocabulary {name}, which has {expected} bytes: got {bytes} bytes")]
    OtherSize {
        /// The name of the vocabulary.
        name: &'static str,
        /// The size of its file.
        expected: usize,
        /// The number of the bytes.
        bytes: usize,
    },
    /// The bytes have the right number, but other values.
    #[error("not the file of the vocabulary {name}: it has other bytes")]
    OtherBytes {
        /// The name of the vocabulary.
        name: &'static str,
    },
}

fn names() -> String {
    VOCABULARIES.each_ref().map(|vocabulary| vocabulary.name).join(", ")
}

/// Loads a vocabulary that is not built in: the file `data/NAME.bpe` of this crate. It stays in
/// memory until the process ends. Loading it again has no effect.
///
/// # Errors
///
/// Returns a [`VocabularyError`] if the name is unknown, or if the bytes are not those of the file.
///
/// ```
/// use lcp_tokens::{Encoding, load_vocabulary};
///
/// let error = load_vocabulary("r50k_base", b"{}".to_vec()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "not the file of the vocabulary r50k_base, which has 301542 bytes: got 2 bytes"
/// );
///
/// load_vocabulary("r50k_base", std::fs::read("data/r50k_base.bpe")?)?;
/// assert!(Encoding::R50kBase.is_available());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load_vocabulary(name: &str, bytes: Vec<u8>) -> Result<(), VocabularyError> {
    let unknown = || VocabularyError::UnknownName { name: name.to_owned() };
    let index = index(name).ok_or_else(unknown)?;
    let &Vocabulary { name, bytes: expected, hash: expected_hash, .. } = &VOCABULARIES[index];
    if bytes.len() != expected {
        return Err(VocabularyError::OtherSize { name, expected, bytes: bytes.len() });
    }
    if hash(&bytes) != expected_hash {
        return Err(VocabularyError::OtherBytes { name });
    }
    if data(index).is_none() {
        // The engine, which is never freed either, has references to it.
        LOADED[index].get_or_init(|| Data::new(Vec::leak(bytes)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_expected_sizes_and_hashes() {
        for vocabulary in &VOCABULARIES {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/data");
            let file = std::fs::read(format!("{folder}/{}.bpe", vocabulary.name)).unwrap();
            let found = (file.len(), format!("{:#x}", hash(&file)));
            assert_eq!(found, (vocabulary.bytes, format!("{:#x}", vocabulary.hash)));
            assert_eq!(load_vocabulary(vocabulary.name, file), Ok(()));
        }
    }

    #[test]
    fn other_files_are_errors() {
        let name = "p50k_base";
        let other_bytes = load_vocabulary(name, vec![0; 301_686]);
        assert_eq!(other_bytes, Err(VocabularyError::OtherBytes { name }));
        let error = load_vocabulary("p50k", Vec::new()).unwrap_err().to_string();
        assert!(error.ends_with("o200k_base, cl100k_base, p50k_base, r50k_base"), "{error}");
    }
}
