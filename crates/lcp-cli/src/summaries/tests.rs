//! Summaries by a shell.

use std::path::Path;

use clap::Parser;
use lcp_outline::Kind;
use lcp_types::Lang;

use super::{How, Summaries, Summarizing};

const CODE: &str = "fn long() {\n    let x = 1;\n    let y = 2;\n    let z = x + y;\n}\n";

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    summarizing: Summarizing,
}

fn parse(args: &[&str]) -> Result<Summarizing, String> {
    let cli = Cli::try_parse_from(std::iter::once(&"lcp").chain(args));
    cli.map(|cli| cli.summarizing).map_err(|error| error.to_string())
}

fn summaries(args: &[&str]) -> Summaries {
    parse(args).unwrap().summaries(How::Off).unwrap().unwrap()
}

fn ask(summaries: &Summaries) -> Option<String> {
    summaries.summary("src/a.rs", Kind::Code(Lang::Rust), CODE)
}

#[test]
fn nothing_without_a_flag() {
    assert!(parse(&[]).unwrap().summaries(How::Off).unwrap().is_none());
    assert!(parse(&[]).unwrap().summaries(How::Outline).unwrap().is_some());
    let off = parse(&["--summarize", "off"]).unwrap();
    assert!(off.summaries(How::Outline).unwrap().is_none());
}

#[test]
fn flags_that_cannot_be() {
    for args in [
        &["--jobs", "2"][..],
        &["--summarizer-cmd", "cat", "--jobs", "0"],
        &["--summarizer-cmd", "cat", "--summarizer-timeout", "0"],
        &["--summarizer-cmd", "cat", "--summary-cache", "x", "--no-summary-cache"],
        &["--summarize", "often"],
    ] {
        assert!(parse(args).is_err(), "{args:?}");
    }
    let both = parse(&["--summarize", "off", "--summarizer-cmd", "cat"]).unwrap();
    assert!(both.summaries(How::Off).unwrap_err().message.contains("--summarize off"));
}

#[cfg(feature = "outline")]
#[test]
fn an_outline() {
    let summaries = summaries(&["--summarize", "outline"]);
    assert_eq!(ask(&summaries).as_deref(), Some("fn long()"));
    assert_eq!(summaries.warning(), None);
}

#[test]
fn a_program_is_told_what_it_reads() {
    let line = "echo \"$LCP_PATH $LCP_LANG $(wc -l | tr -d ' ')\"";
    let summaries = summaries(&["--summarizer-cmd", line, "--no-summary-cache"]);
    assert_eq!(ask(&summaries).as_deref(), Some("src/a.rs rust 5"));
    assert_eq!(summaries.summary("t", Kind::Text, "long\nlines\n").as_deref(), Some("t  2"));
    assert_eq!(summaries.warning(), None);
}

#[test]
fn what_is_no_smaller_is_none() {
    let summaries = summaries(&["--summarizer-cmd", "cat; echo more", "--no-summary-cache"]);
    assert_eq!(ask(&summaries), None);
    assert_eq!(summaries.warning(), None);
}

#[test]
fn a_second_run_asks_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let asked = folder.path().join("asked");
    let line = format!("echo x >> '{}'; echo answer", asked.display());
    let cache = folder.path().join("cache");
    let args = ["--summarizer-cmd", line.as_str(), "--summary-cache", cache.to_str().unwrap()];
    for _ in 0..3 {
        assert_eq!(ask(&summaries(&args)).as_deref(), Some("answer"));
    }
    let times = |path: &Path| std::fs::read_to_string(path).unwrap().lines().count();
    assert_eq!(times(&asked), 1);
    // Another path, another answer.
    summaries(&args).summary("src/b.rs", Kind::Code(Lang::Rust), CODE);
    assert_eq!(times(&asked), 2);
    let damaged = std::fs::read_dir(&cache).unwrap().flatten();
    damaged.for_each(|entry| std::fs::write(entry.path(), "damaged").unwrap());
    assert_eq!(ask(&summaries(&args)).as_deref(), Some("answer"));
    assert_eq!(times(&asked), 3);
}

#[cfg(feature = "outline")]
#[test]
fn failures_fall_back_and_are_counted() {
    let line = "echo \"no $LCP_PATH\" >&2; exit 3";
    let summaries = summaries(&["--summarizer-cmd", line, "--no-summary-cache"]);
    for path in ["c.rs", "a.rs", "b\n.rs"] {
        let summary = summaries.summary(path, Kind::Code(Lang::Rust), CODE);
        assert_eq!(summary.as_deref(), Some("fn long()"));
    }
    let warning = summaries.warning().unwrap();
    assert!(warning.starts_with("3 texts not summarised by the program; a.rs: "), "{warning}");
    assert!(warning.ends_with("failed (exit status: 3): no a.rs"), "{warning}");
}

#[test]
fn no_more_at_once_than_jobs() {
    let folder = tempfile::tempdir().unwrap();
    // Whoever finds the lock held says so.
    let lock = folder.path().join("lock");
    let line = format!(
        "mkdir '{0}' || {{ echo BOTH; exit; }}; sleep 0.02; rmdir '{0}'; echo alone",
        lock.display()
    );
    let args = ["--summarizer-cmd", line.as_str(), "--jobs", "1", "--no-summary-cache"];
    let summaries = summaries(&args);
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..6).map(|_| scope.spawn(|| ask(&summaries))).collect();
        for answer in asked {
            assert_eq!(answer.join().unwrap().as_deref(), Some("alone"));
        }
    });
}
