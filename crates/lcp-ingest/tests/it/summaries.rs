//! Summaries by outlines and by a shell.

use std::num::NonZeroUsize;
use std::path::Path;

use lcp_continuity::command::CommandOptions;
use lcp_ingest::FileSummarizer;
use lcp_ingest::outline::InputKind;
use lcp_types::Lang;

const CODE: &str = "fn long() {\n    let x = 1;\n    let y = 2;\n    let z = x + y;\n}\n";

fn command(line: &str, jobs: usize, cache: Option<&Path>) -> FileSummarizer {
    let jobs = NonZeroUsize::new(jobs).unwrap();
    FileSummarizer::with_command(
        line,
        CommandOptions::default(),
        jobs,
        cache.map(Path::to_path_buf),
    )
}

fn summarize(summarizer: &FileSummarizer) -> Option<String> {
    summarizer.summarize("src/a.rs", InputKind::Code(Lang::Rust), CODE)
}

#[cfg(feature = "outline")]
#[test]
fn default_summarizer_returns_an_outline() {
    let summarizer = FileSummarizer::default();
    assert_eq!(summarize(&summarizer).as_deref(), Some("fn long()"));
    assert_eq!(summarizer.warning(), None);
}

#[test]
fn program_receives_path_language_and_text() {
    let line = "echo \"$LCP_PATH $LCP_LANG $(wc -l | tr -d ' ')\"";
    let summarizer = command(line, 4, None);
    assert_eq!(summarize(&summarizer).as_deref(), Some("src/a.rs rust 5"));
    assert_eq!(
        summarizer.summarize("t", InputKind::Text, "long\nlines\n").as_deref(),
        Some("t  2")
    );
    assert_eq!(summarizer.warning(), None);
}

#[test]
fn larger_summaries_are_discarded() {
    let summarizer = command("cat; echo more", 4, None);
    assert_eq!(summarize(&summarizer), None);
    assert_eq!(summarizer.warning(), None);
}

#[test]
fn second_run_uses_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let calls = folder.path().join("calls");
    let line = format!("echo x >> '{}'; echo answer", calls.display());
    let cache = folder.path().join("cache");
    let command = || command(&line, 4, Some(&cache));
    for _ in 0..3 {
        assert_eq!(summarize(&command()).as_deref(), Some("answer"));
    }
    let times = |path: &Path| std::fs::read_to_string(path).unwrap().lines().count();
    assert_eq!(times(&calls), 1);
    // Another path, another answer.
    let _ = command().summarize("src/b.rs", InputKind::Code(Lang::Rust), CODE);
    assert_eq!(times(&calls), 2);
    let damaged = std::fs::read_dir(&cache).unwrap().flatten();
    damaged.for_each(|entry| std::fs::write(entry.path(), "damaged").unwrap());
    assert_eq!(summarize(&command()).as_deref(), Some("answer"));
    assert_eq!(times(&calls), 3);
}

#[cfg(feature = "outline")]
#[test]
fn failed_program_falls_back_to_outline_with_warning() {
    let line = "echo \"no $LCP_PATH\" >&2; exit 3";
    let summarizer = command(line, 4, None);
    for path in ["c.rs", "a.rs", "b\n.rs"] {
        let summary = summarizer.summarize(path, InputKind::Code(Lang::Rust), CODE);
        assert_eq!(summary.as_deref(), Some("fn long()"));
    }
    let warning = summarizer.warning().unwrap();
    assert!(
        warning.starts_with("used outlines for 3 texts because the program failed; a.rs: "),
        "{warning}"
    );
    assert!(warning.ends_with("failed (exit status: 3): no a.rs"), "{warning}");
}

#[test]
fn programs_run_one_at_a_time_with_one_job() {
    let folder = tempfile::tempdir().unwrap();
    // Whoever finds the lock held says so.
    let lock = folder.path().join("lock");
    let line = format!(
        "mkdir '{0}' || {{ echo BOTH; exit; }}; sleep 0.02; rmdir '{0}'; echo alone",
        lock.display()
    );
    let summarizer = command(&line, 1, None);
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..6).map(|_| scope.spawn(|| summarize(&summarizer))).collect();
        for answer in calls {
            assert_eq!(answer.join().unwrap().as_deref(), Some("alone"));
        }
    });
}
