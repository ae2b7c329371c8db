//! Laws of every ranking.

use lcp_rank::{Commit, Document, Query, RankedFile, Ranker, WordIndex};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{document, finish, rank};

const WORDS: [&str; 12] = [
    "fn", "open", "door", "print_table", "printTable", "retry", "Backoff", "x1", "the", "row",
    "\n", "{ }",
];

/// A text of words that questions and files share.
fn text() -> impl Strategy<Value = String> {
    vec(prop::sample::select(&WORDS[..]), 0..60).prop_map(|words| words.join(" "))
}

fn project() -> impl Strategy<Value = Vec<(String, String)>> {
    let name = prop::sample::select(vec!["door", "table", "net/retry", "tests/door", "lib"]);
    let extension = prop::sample::select(vec!["rs", "py", "md", "lock"]);
    let file = (name, 0..9_u8, extension, text())
        .prop_map(|(name, number, extension, text)| (format!("{name}{number}.{extension}"), text));
    vec(file, 1..14).prop_map(|mut files| {
        files.sort();
        files.dedup_by(|a, b| a.0 == b.0);
        files
    })
}

fn documents(files: &[(String, String)]) -> Vec<Document<'_>> {
    files.iter().map(|(path, text)| document(path, text)).collect()
}

/// Returns a ranking with paths instead of numbers.
fn named(ranking: Vec<RankedFile>, files: &[(String, String)]) -> Vec<(String, RankedFile)> {
    let named = ranking.into_iter().map(|ranked| {
        let path = files[ranked.file].0.clone();
        (path, RankedFile { file: 0, ..ranked })
    });
    named.collect()
}

fn commits(files: &[(String, String)]) -> Vec<Commit> {
    let commit = |(at, (path, _)): (usize, &(String, String))| Commit {
        hash: format!("{at:040x}"),
        message: WORDS[at % WORDS.len()].to_owned(),
        files: vec![path.clone()],
    };
    files.iter().enumerate().map(commit).collect()
}

proptest! {
    #[test]
    fn order_of_files_and_number_of_threads_do_not_matter(
        files in project(),
        question in text(),
        seed in any::<u64>(),
    ) {
        let query = Query::new(&question);
        let commits = commits(&files);
        let expected = named(rank(&query, &documents(&files), &commits), &files);
        let mut shuffled = files.clone();
        let len = shuffled.len() as u64;
        for at in 0..shuffled.len() {
            let other = seed.rotate_left(u32::try_from(at).unwrap()) % len;
            shuffled.swap(at, usize::try_from(other).unwrap());
        }
        for threads in [1, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let ranking = pool.install(|| rank(&query, &documents(&shuffled), &commits));
            prop_assert_eq!(&named(ranking, &shuffled), &expected);
        }
    }

    #[test]
    fn every_file_is_ranked_once_with_ordered_passages(files in project(), question in text()) {
        let query = Query::new(&question);
        let ranking = rank(&query, &documents(&files), &[]);
        let mut ranked: Vec<_> = ranking.iter().map(|ranked| ranked.file).collect();
        ranked.sort_unstable();
        prop_assert_eq!(ranked, (0..files.len()).collect::<Vec<_>>());
        for ranked in &ranking {
            prop_assert!((0.0..=1.0).contains(&ranked.score));
            let lines = files[ranked.file].1.lines().count();
            let mut next = 1;
            for passage in &ranked.passages {
                prop_assert_eq!(passage.first as usize, next);
                prop_assert!((1..=1000).contains(&passage.score));
                next = passage.last as usize + 1;
            }
            prop_assert!(ranked.passages.is_empty() || next == lines + 1);
        }
        prop_assert!(ranking.is_sorted_by(|a, b| a.score >= b.score));
    }

    #[test]
    fn ranks_are_the_same_with_the_index_of_an_earlier_question(
        (files, later) in (project(), project()),
        (first, second) in (text(), text()),
    ) {
        let (first, second) = (Query::new(&first), Query::new(&second));
        let mut ranker = Ranker::new(&first).with_index(WordIndex::default());
        finish(&mut ranker, &documents(&files), &[]);
        let index = ranker.into_index().unwrap();
        // Some files are new, some are gone, and some have other contents.
        let later = [&files[..files.len() / 2], &later].concat();
        let mut ranker = Ranker::new(&second).with_index(WordIndex::from_bytes(&index));
        let ranking = finish(&mut ranker, &documents(&later), &[]);
        prop_assert_eq!(ranking, rank(&second, &documents(&later), &[]));
        // A dictionary with too many words of other texts is read anew once.
        let mut index = ranker.into_index().unwrap_or(index);
        let mut again = || {
            let mut ranker = Ranker::new(&second).with_index(WordIndex::from_bytes(&index));
            finish(&mut ranker, &documents(&later), &[]);
            let next = ranker.into_index();
            index = next.clone().unwrap_or_else(|| index.clone());
            next
        };
        again();
        prop_assert_eq!(again(), None);
    }

    #[test]
    fn damaged_index_counts_as_empty(files in project(), at in any::<prop::sample::Index>()) {
        let query = Query::new("open door");
        let mut ranker = Ranker::new(&query).with_index(WordIndex::default());
        let expected = finish(&mut ranker, &documents(&files), &[]);
        let index = ranker.into_index().unwrap();
        let at = at.index(index.len());
        let mut changed = index.clone();
        changed[at] ^= 0x80;
        // A changed byte can change counts, but never stops the ranking.
        let mut ranker = Ranker::new(&query).with_index(WordIndex::from_bytes(&changed));
        prop_assert_eq!(finish(&mut ranker, &documents(&files), &[]).len(), files.len());
        let mut ranker = Ranker::new(&query).with_index(WordIndex::from_bytes(&index[..at]));
        prop_assert_eq!(finish(&mut ranker, &documents(&files), &[]), expected);
    }

    #[test]
    fn unrelated_file_changes_other_files_only_by_statistics(
        files in project(),
        question in text(),
    ) {
        // A file without words adds one to the number of files, and comes last among equals.
        let files = &files[..files.len().min(8)];
        let query = Query::new(&question);
        let with = |name: &str, at: usize| {
            let mut more = files.to_vec();
            more.insert(at, (name.to_owned(), String::new()));
            let mut ranking = named(rank(&query, &documents(&more), &[]), &more);
            ranking.retain(|(path, _)| path != name);
            ranking
        };
        let order = |ranking: &[(String, RankedFile)]| -> Vec<_> {
            ranking.iter().map(|(path, ranked)| (path.clone(), ranked.passages.clone())).collect()
        };
        let expected = order(&with("zz.bin", files.len()));
        for (name, at) in [("zz.cfg", 0), ("zz/other.lock", files.len() / 2)] {
            prop_assert_eq!(order(&with(name, at)), expected.clone());
        }
    }
}

#[test]
fn any_question_is_answered() {
    let files = [("a.rs".to_owned(), "fn door() {}\n".repeat(100))];
    let long = "door ".repeat(2 << 20);
    for question in ["", "\0\u{1}\u{7f}", "日本語", "door", &long] {
        let query = Query::new(question);
        assert_eq!(rank(&query, &documents(&files), &[]).len(), 1);
    }
    assert_eq!(rank(&Query::new("door"), &[], &[]), []);
}

#[test]
fn file_in_one_line_and_empty_file_are_ranked() {
    let files =
        [("a.rs".to_owned(), "door();".repeat(1 << 20)), ("b.rs".to_owned(), String::new())];
    let ranking = rank(&Query::new("door"), &documents(&files), &[]);
    assert_eq!(ranking.len(), 2);
    assert!(ranking[0].file == 0 && ranking[1].passages.is_empty());
}
