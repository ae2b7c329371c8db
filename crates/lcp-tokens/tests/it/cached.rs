//! Counts that are remembered: never wrong, never too many, kept on disk.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lcp_testkit::SplitMix64;
use lcp_tokens::{CacheFileError, CachedEstimator, CountCache, HeuristicEstimator, TokenEstimator};

/// Counts how often it is asked; `name` decides its counts.
#[derive(Clone)]
struct Asked {
    name: &'static str,
    times: Arc<AtomicU32>,
}

impl Asked {
    fn new(name: &'static str) -> Self {
        Self { name, times: Arc::default() }
    }
    fn times(&self) -> u32 {
        self.times.load(Ordering::Relaxed)
    }
}

impl TokenEstimator for Asked {
    fn estimate(&self, text: &str) -> u32 {
        self.times.fetch_add(1, Ordering::Relaxed);
        u32::try_from(text.len() * self.name.len()).unwrap()
    }
    fn write_cache_key(&self, write: &mut dyn FnMut(&[u8])) -> bool {
        write(self.name.as_bytes());
        !self.name.is_empty()
    }
}

fn text(i: usize) -> String {
    format!("text {i} ").repeat(30)
}

#[test]
fn estimators_do_not_share_counts() {
    let cache = Arc::new(CountCache::new(1 << 20));
    let asked = ["a", "bb"].map(Asked::new);
    let cached = asked.clone().map(|asked| CachedEstimator::new(asked, Arc::clone(&cache)));
    let text = text(1);
    for _ in 0..2 {
        assert_eq!(cached[0].estimate(&text) * 2, cached[1].estimate(&text));
    }
    assert_eq!(asked.map(|asked| asked.times()), [1, 1]);
    assert_eq!(cache.len(), 2);
}

/// Encodings that differ in their vocabulary only, or in a factor.
#[test]
#[cfg(feature = "tiktoken")]
fn encodings_do_not_share_counts() {
    let cache = Arc::new(CountCache::new(1 << 20));
    let text = "    indented\n".repeat(20);
    for name in lcp_tokens::TOKENIZER_NAMES {
        let estimator = lcp_tokens::tokenizer_by_name(name).unwrap();
        let cached = CachedEstimator::new(Arc::clone(&estimator), Arc::clone(&cache));
        assert_eq!(cached.estimate(&text), estimator.estimate(&text), "{name}");
    }
    // Only o200k_harmony is another name for what is there.
    let (found, counted) = cache.hits_and_misses();
    assert_eq!((found, counted), (1, lcp_tokens::TOKENIZER_NAMES.len() as u64 - 1));
}

/// What cannot say what decides its counts, short texts, and counts that must
/// not come from memory.
#[test]
fn uncacheable_texts_are_always_counted() {
    let cache = Arc::new(CountCache::new(1 << 20));
    let unknown = Asked::new("");
    let known = Asked::new("known");
    let (a, b) = (
        CachedEstimator::new(unknown.clone(), Arc::clone(&cache)),
        CachedEstimator::new(known.clone(), cache),
    );
    for _ in 0..3 {
        a.estimate(&text(1));
        b.estimate("short");
        b.recount(&text(1));
    }
    assert_eq!((unknown.times(), known.times()), (3, 6));
    assert!(a.cache().is_empty());
}

/// However many texts come, whatever they are.
#[test]
fn cache_stays_within_its_byte_limit() {
    let cache = Arc::new(CountCache::new(64 << 10));
    let counter = CachedEstimator::new(HeuristicEstimator, Arc::clone(&cache));
    for i in 0..20_000 {
        assert_eq!(counter.estimate(&text(i)), HeuristicEstimator.estimate(&text(i)));
    }
    assert!(cache.len() * 128 <= cache.bytes(), "{} entries", cache.len());
    assert!(cache.len() > 100);
}

#[test]
fn threads_share_the_cache() {
    let cache = Arc::new(CountCache::new(1 << 20));
    let asked = Asked::new("a");
    let counter = CachedEstimator::new(asked.clone(), Arc::clone(&cache));
    for i in 0..50 {
        counter.estimate(&text(i));
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let counter = counter.clone();
            scope.spawn(move || {
                for i in 0..50 {
                    assert_eq!(counter.estimate(&text(i)) as usize, text(i).len());
                }
            });
        }
    });
    assert_eq!((asked.times(), cache.hits_and_misses()), (50, (200, 50)));
}

#[test]
fn saved_counts_are_loaded_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counts");
    let cache = Arc::new(CountCache::load(&path, 1 << 20).unwrap());
    assert!(cache.is_empty(), "there is no file yet");
    let counter = CachedEstimator::new(HeuristicEstimator, Arc::clone(&cache));
    for i in 0..100 {
        counter.estimate(&text(i));
    }
    cache.save(&path).unwrap();
    let again = Arc::new(CountCache::load(&path, 1 << 20).unwrap());
    let asked = CachedEstimator::new(HeuristicEstimator, Arc::clone(&again));
    for i in 0..100 {
        assert_eq!(asked.estimate(&text(i)), HeuristicEstimator.estimate(&text(i)));
    }
    assert_eq!(again.hits_and_misses(), (100, 0));
    let saved = fs::read(&path).unwrap();
    again.save(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), saved, "the same counts, the same bytes");
}

/// No bit of a file can be changed and no byte be missing unnoticed. A file of no
/// bytes holds no counts: it is what a program that made it has not yet written.
#[test]
fn damaged_cache_file_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counts");
    let cache = Arc::new(CountCache::new(1 << 20));
    let counter = CachedEstimator::new(HeuristicEstimator, Arc::clone(&cache));
    for i in 0..5 {
        counter.estimate(&text(i));
    }
    cache.save(&path).unwrap();
    let saved = fs::read(&path).unwrap();
    let load = |bytes: &[u8], most: usize| {
        fs::write(&path, bytes).unwrap();
        CountCache::load(&path, most)
    };
    let mut random = SplitMix64::new(22);
    for at in 0..saved.len() {
        let mut changed = saved.clone();
        changed[at] ^= 1 << random.below(8);
        let error = load(&changed, 1 << 20).unwrap_err();
        let is_known = match error {
            CacheFileError::Foreign => at < 7,
            CacheFileError::Version => at == 7,
            CacheFileError::Damaged => at > 7,
            _ => false,
        };
        assert!(is_known, "{at}: {error}");
        if at == 0 {
            assert!(load(&[], 1 << 20).unwrap().is_empty());
        } else {
            assert!(load(&saved[..at], 1 << 20).is_err(), "cut at {at}");
        }
    }
    assert_eq!(load(&saved, 1 << 20).unwrap().len(), 5);
    assert!(matches!(load(&saved, 100), Err(CacheFileError::TooLarge { max: 100, .. })));
}
