//! A cache of answers, such as those of programs.
//!
//! Each answer is a file. Its name is the hash of the question and `.answer`. It contains the hash
//! of the answer in hexadecimal digits, a newline, and the answer. A damaged file or one that
//! cannot be read counts as missing, and errors on writing are ignored: the cache never causes a
//! failure.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The version of the entry format, which is part of every key.
const VERSION: &str = "lcp.answer.v1";

/// The number of hexadecimal digits of a hash.
const DIGITS: usize = 2 * blake3::OUT_LEN;

/// The maximum size of all answers in bytes. Above it, the oldest answers are removed.
const BYTES_MAX: u64 = 256 << 20;

/// A folder of answers to questions.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    /// The maximum size of an answer in bytes.
    answer_bytes_max: u64,
}

/// The extension of answers. It distinguishes them from other files whose names are hashes.
const EXTENSION: &str = ".answer";

impl Cache {
    /// Opens the cache in a folder, which need not exist, and removes the oldest answers if it is
    /// too large. Longer answers than `answer_bytes_max` count as missing.
    #[must_use]
    pub fn new(folder: PathBuf, answer_bytes_max: u64) -> Self {
        shrink(&folder, BYTES_MAX);
        Self { folder, answer_bytes_max }
    }

    /// Returns the file name of the answer to a question, whose parts must determine the answer.
    #[must_use]
    pub fn key(question: &[&[u8]]) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in [VERSION.as_bytes()].iter().chain(question) {
            // With the lengths, different lists of parts never hash the same bytes.
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        format!("{}{EXTENSION}", hasher.finalize())
    }

    /// Returns the answer of a key, if there is an undamaged one.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        let path = self.folder.join(key);
        let about = std::fs::metadata(&path).ok()?;
        let bytes_max = self.answer_bytes_max.saturating_add(DIGITS as u64 + 1);
        if !about.is_file() || about.len() > bytes_max {
            return None;
        }
        let mut hash = std::fs::read(&path).ok()?;
        let end = hash.iter().position(|byte| *byte == b'\n')?;
        let answer = hash.split_off(end + 1);
        hash.pop();
        (hash == blake3::hash(&answer).to_string().as_bytes()).then_some(answer)
    }

    /// Stores the answer of a key. Errors are ignored.
    pub fn put(&self, key: &str, answer: &[u8]) {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        // The answers may be confidential, so only the owner may read the folder.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        if builder.create(&self.folder).is_ok() {
            let hash = format!("{}\n", blake3::hash(answer));
            // An incomplete file has a wrong hash, so the program is asked again.
            let _ = std::fs::write(self.folder.join(key), [hash.as_bytes(), answer].concat());
        }
    }
}

/// Returns the paths of the cached answers in a folder.
#[must_use]
pub fn cached_answers(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_answer = |entry: &std::fs::DirEntry| is_key(&entry.file_name().to_string_lossy());
    entries.flatten().filter(is_answer).map(|entry| entry.path()).collect()
}

/// Removes the oldest answers if all of them have more than `bytes_max` bytes, until half of that
/// is left.
fn shrink(folder: &Path, bytes_max: u64) {
    let mut answers: Vec<(SystemTime, PathBuf, u64)> = cached_answers(folder)
        .into_iter()
        .filter_map(|path| {
            let about = path.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some((about.modified().ok()?, path, about.len()))
        })
        .collect();
    let mut bytes: u64 = answers.iter().map(|(.., bytes)| bytes).sum();
    if bytes <= bytes_max {
        return;
    }
    answers.sort();
    for (_, path, length) in answers {
        if bytes <= bytes_max / 2 {
            return;
        }
        if std::fs::remove_file(path).is_ok() {
            bytes -= length;
        }
    }
}

fn is_key(name: &str) -> bool {
    name.strip_suffix(EXTENSION).is_some_and(|hash| {
        hash.len() == DIGITS && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

#[cfg(test)]
mod tests;
