//! A cache of counts by content hash, shared between threads and saved between runs.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::Cache;

use crate::TokenEstimator;
use crate::estimator::forward;

/// The BLAKE3 hash of a text, with a key that identifies the estimator.
type Key = [u8; KEY_BYTES];

const KEY_BYTES: usize = 32;
const COUNT_BYTES: usize = 4;

/// The size of a record in a file, in bytes.
const RECORD_BYTES: usize = KEY_BYTES + COUNT_BYTES;

/// The maximum size of an entry in memory, in bytes. Measured sizes are 108 to 177.
const ENTRY_BYTES: usize = 192;

/// The magic bytes at the beginning of a file. The last character is the version.
const MAGIC: &[u8; 8] = b"LCPCNT\n1";

/// The part of the magic bytes that is the same in every version.
const NAME: &[u8] = b"LCPCNT\n";

/// The minimum length of a cached text in bytes. Hashing a shorter text takes as long as counting
/// it.
const TEXT_BYTES_MIN: usize = 128;

/// A cache of token counts (seed 004, FR-016c-04; RFC 0009 §7).
///
/// The size is limited in bytes, and the least useful entries are removed first. Threads share the
/// cache without waiting for each other.
///
/// The key of an entry is a BLAKE3 hash of the text, keyed by everything that determines the
/// counts. So counts of another encoding, vocabulary or version of the engine are never returned.
/// In memory the entries are hashed with a random key, so that no choice of texts makes the cache
/// slow.
#[derive(Debug)]
pub struct CountCache {
    counts: Cache<Key, u32>,
    bytes: usize,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// The reason why a file of counts cannot be used. Counting works without the file, but takes
/// longer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheFileError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not a token count cache.
    #[error("not a token count cache")]
    Foreign,
    /// The file contains token counts in the format of another version.
    #[error("the token count cache has another version")]
    Version,
    /// The file was truncated or changed.
    #[error("the token count cache is damaged")]
    Damaged,
    /// The file is larger than the memory limit of the cache.
    #[error("the token count cache exceeds its memory limit: {bytes} > {max} bytes")]
    TooLarge {
        /// The size of the file in bytes.
        bytes: u64,
        /// The memory limit of the cache in bytes.
        max: usize,
    },
}

impl CountCache {
    /// Creates an empty cache that takes at most `bytes` of memory, but at least one entry of 192
    /// bytes.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self {
            counts: Cache::new((bytes / ENTRY_BYTES).max(1)),
            bytes,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// Loads the cache that [`Self::save`] wrote to `path`. Returns an empty cache if the file does
    /// not exist or is empty. If the saved cache was larger than `bytes`, only some of its entries
    /// are loaded.
    ///
    /// # Errors
    ///
    /// Returns a [`CacheFileError`] if the file cannot be used. Continue with an empty cache in
    /// this case. Do not overwrite a [foreign](CacheFileError::Foreign) file, because it may
    /// contain anything.
    pub fn load(path: &Path, bytes: usize) -> Result<Self, CacheFileError> {
        let this = Self::new(bytes);
        let size = match fs::metadata(path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(this),
            Err(error) => return Err(error.into()),
        };
        // The file is read as a whole. A cache of this size writes a file of about a fifth of it.
        if size > bytes.saturating_add(MAGIC.len() + KEY_BYTES) as u64 {
            return Err(CacheFileError::TooLarge { bytes: size, max: bytes });
        }
        let file = fs::read(path)?;
        if file.is_empty() {
            return Ok(this);
        }
        let rest = file.strip_prefix(MAGIC).ok_or_else(|| {
            if file.starts_with(NAME) { CacheFileError::Version } else { CacheFileError::Foreign }
        })?;
        let (records, check) =
            rest.split_last_chunk::<KEY_BYTES>().ok_or(CacheFileError::Damaged)?;
        let (records, more) = records.as_chunks::<RECORD_BYTES>();
        if blake3::hash(&file[..file.len() - KEY_BYTES]) != *check || !more.is_empty() {
            return Err(CacheFileError::Damaged);
        }
        for record in records {
            if let Some((key, count)) = record.split_first_chunk::<KEY_BYTES>()
                && let Some(count) = count.first_chunk::<COUNT_BYTES>()
            {
                this.counts.insert(*key, u32::from_le_bytes(*count));
            }
        }
        Ok(this)
    }

    /// Checks that counts may be written to `path`: the file does not exist, is empty, or contains
    /// counts of any version.
    ///
    /// # Errors
    ///
    /// Returns [`CacheFileError::Foreign`] for any other file, or [`CacheFileError::Io`] if the
    /// file cannot be read.
    pub fn check_writable(path: &Path) -> Result<(), CacheFileError> {
        let mut head = Vec::new();
        match fs::File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            file => file?.take(MAGIC.len() as u64).read_to_end(&mut head)?,
        };
        if head.is_empty() || head.starts_with(NAME) {
            Ok(())
        } else {
            Err(CacheFileError::Foreign)
        }
    }

    /// Writes the counts to a temporary file in the same folder, and renames it to `path`. The same
    /// counts give the same bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let mut beside = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
        beside.write_all(&self.to_bytes())?;
        beside.persist(path).map_err(|error| error.error)?;
        Ok(())
    }

    /// Returns the counts in the format that [`load`](Self::load) reads. The same counts give the
    /// same bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut records: Vec<_> = self.counts.iter().collect();
        records.sort_unstable();
        let mut file = MAGIC.to_vec();
        for (key, count) in records {
            file.extend_from_slice(&key);
            file.extend_from_slice(&count.to_le_bytes());
        }
        let check = blake3::hash(&file);
        file.extend_from_slice(check.as_bytes());
        file
    }

    /// Returns the number of counts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Returns whether the cache is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the memory limit in bytes.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of texts that were found, and of texts that had to be counted.
    #[must_use]
    pub fn hits_and_misses(&self) -> (u64, u64) {
        (self.hits.load(Ordering::Relaxed), self.misses.load(Ordering::Relaxed))
    }

    fn count(&self, key: Key, count: impl FnOnce() -> u32) -> u32 {
        if let Some(known) = self.counts.get(&key) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return known;
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let count = count();
        self.counts.insert(key, count);
        count
    }
}

/// An estimator that stores its counts in a [`CountCache`].
///
/// The counts are those of the inner estimator. It is called directly for texts of less than 128
/// bytes and for [`recount`](TokenEstimator::recount), and always if it does not implement
/// [`write_cache_key`](TokenEstimator::write_cache_key).
///
/// ```
/// use std::sync::Arc;
/// use lcp_tokens::{CachedEstimator, CountCache, HeuristicEstimator, TokenEstimator};
///
/// let cache = Arc::new(CountCache::new(1 << 20));
/// let counter = CachedEstimator::new(HeuristicEstimator, Arc::clone(&cache));
/// let text = "a file that is read again and again\n".repeat(10);
/// assert_eq!(counter.estimate(&text), counter.estimate(&text));
/// assert_eq!(cache.hits_and_misses(), (1, 1));
/// ```
#[derive(Clone, Debug)]
pub struct CachedEstimator<E> {
    estimator: E,
    /// The key for hashing texts; `None` if the counts cannot be cached.
    key: Option<Key>,
    cache: Arc<CountCache>,
}

impl<E: TokenEstimator> CachedEstimator<E> {
    /// Creates an estimator with a cache, which other estimators can use too.
    pub fn new(estimator: E, cache: Arc<CountCache>) -> Self {
        let mut hash = blake3::Hasher::new_derive_key("LCP token counts by content, version 1");
        let identified = estimator.write_cache_key(&mut |part| {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        });
        let key = identified.then(|| *hash.finalize().as_bytes());
        Self { estimator, key, cache }
    }

    /// Returns the cache.
    pub const fn cache(&self) -> &Arc<CountCache> {
        &self.cache
    }
}

impl<E: TokenEstimator> TokenEstimator for CachedEstimator<E> {
    fn estimate(&self, text: &str) -> u32 {
        match &self.key {
            Some(key) if text.len() >= TEXT_BYTES_MIN => {
                let key = *blake3::keyed_hash(key, text.as_bytes()).as_bytes();
                self.cache.count(key, || self.estimator.estimate(text))
            }
            _ => self.estimator.estimate(text),
        }
    }

    forward!(
        self to self.estimator;
        is_exact, is_additive, name, caveat, limits, recount, write_cache_key,
    );
}
