//! Counts by content hash, shared between threads and kept between runs.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::Cache;

use crate::TokenEstimator;
use crate::estimator::forward;

/// A BLAKE3 hash of a text, keyed by its estimator.
type Key = [u8; KEY_BYTES];

const KEY_BYTES: usize = 32;
const COUNT_BYTES: usize = 4;

/// Bytes of a record in a file.
const RECORD_BYTES: usize = KEY_BYTES + COUNT_BYTES;

/// Bytes that an entry takes in memory at worst, measured: 108 to 177.
const ENTRY_BYTES: usize = 192;

/// A file begins with this; the last character is the version.
const MAGIC: &[u8; 8] = b"LCPCNT\n1";

/// The same in every version.
const NAME: &[u8] = b"LCPCNT\n";

/// Hashing a shorter text would take as long as counting it.
const TEXT_BYTES_MIN: usize = 128;

/// Token counts of texts that came before (seed 004, FR-016c-04; RFC 0009 §7).
///
/// Bounded in bytes; the entries that are of least use go first. Threads share
/// it without waiting for each other. Entries are found by a BLAKE3 hash of the
/// text under a key that is made of all that decides the counts, so what
/// another encoding, another vocabulary or another version of the engine has
/// left is never found; and in memory by a hash with a random key, so that no
/// choice of texts makes it slow.
#[derive(Debug)]
pub struct CountCache {
    counts: Cache<Key, u32>,
    bytes: usize,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// A file of counts that cannot be used. Without it, counting only takes
/// longer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheFileError {
    /// It cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is not a file of counts, or of another version.
    #[error("not a file of token counts")]
    Foreign,
    /// It is a file of token counts as another version writes it.
    #[error("a file of token counts of another version")]
    Version,
    /// It was cut short or changed.
    #[error("the file of token counts is damaged")]
    Damaged,
    /// It is larger than all that its cache may take.
    #[error(
        "the file of token counts has {bytes} bytes, more than the {max} that its cache may take"
    )]
    TooLarge {
        /// Bytes of the file.
        bytes: u64,
        /// Bytes that the cache may take.
        max: usize,
    },
}

impl CountCache {
    /// An empty cache that takes `bytes` of memory at max; at least one entry
    /// of 192 bytes.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self {
            counts: Cache::new((bytes / ENTRY_BYTES).max(1)),
            bytes,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// The cache that [`Self::save`] wrote to `path`; an empty one where there
    /// is no such file, or nothing in it. Of a cache that was larger, it has what fits.
    ///
    /// # Errors
    ///
    /// [`CacheFileError`], where the file cannot be used: go on with an empty
    /// cache then. One that is [foreign](CacheFileError::Foreign) may be anything: write
    /// nothing there.
    pub fn load(path: &Path, bytes: usize) -> Result<Self, CacheFileError> {
        let this = Self::new(bytes);
        let size = match fs::metadata(path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(this),
            Err(error) => return Err(error.into()),
        };
        // The file is read as a whole; a cache of this size writes a fifth of it.
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

    /// Whether counts may be written to `path`: there is no file, an empty one, or one of
    /// counts, of whatever version.
    ///
    /// # Errors
    ///
    /// [`CacheFileError::Foreign`], and what the file system says.
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

    /// Writes the counts to `path`, by a file beside it and renaming. The same
    /// counts give the same bytes.
    ///
    /// # Errors
    ///
    /// What the file system says.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let mut beside = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
        beside.write_all(&self.to_bytes())?;
        beside.persist(path).map_err(|error| error.error)?;
        Ok(())
    }

    /// The counts as [`load`](Self::load) reads them. The same counts give the same bytes.
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

    /// How many counts it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory that it may take.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many texts were found, and how many had to be counted.
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

/// An estimator that remembers in a [`CountCache`] what it counted.
///
/// Counts are those of the estimator inside, which is asked directly for texts
/// of less than 128 bytes, and always for [`recount`](TokenEstimator::recount).
/// One that cannot [`write_cache_key`](TokenEstimator::write_cache_key) itself is always
/// asked.
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
    /// The key of its texts' hashes.
    key: Option<Key>,
    cache: Arc<CountCache>,
}

impl<E: TokenEstimator> CachedEstimator<E> {
    /// `estimator` with `cache`, which others may use too.
    pub fn new(estimator: E, cache: Arc<CountCache>) -> Self {
        let mut hash = blake3::Hasher::new_derive_key("LCP token counts by content, version 1");
        let identified = estimator.write_cache_key(&mut |part| {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        });
        let key = identified.then(|| *hash.finalize().as_bytes());
        Self { estimator, key, cache }
    }

    /// The cache.
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
