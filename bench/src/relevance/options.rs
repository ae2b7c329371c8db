//! The arguments of the benchmark.

use std::path::{Path, PathBuf};

/// The arguments of `cargo xtask bench relevance`.
#[derive(Debug, PartialEq)]
pub(super) struct Options {
    /// Clones, bare or not.
    pub(super) repositories: Vec<PathBuf>,
    /// The number of queries of each repository.
    pub(super) commits: usize,
    /// `true` if words that give the answer away stay in the queries.
    pub(super) leaks: bool,
    /// The number of queries of each repository that programs of others are asked.
    pub(super) peer_queries: usize,
    /// The number of rounds of the time measurements.
    pub(super) rounds: usize,
    /// Files with figures of other rankers.
    pub(super) references: Vec<PathBuf>,
    /// The file to which the queries are written.
    pub(super) queries_out: Option<PathBuf>,
    /// The program to measure. By default, it is built.
    pub(super) lcp: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            repositories: Vec::new(),
            commits: 80,
            leaks: false,
            peer_queries: 10,
            rounds: 7,
            references: Vec::new(),
            queries_out: None,
            lcp: None,
        }
    }
}

impl Options {
    /// Reads arguments: `--flag value` or `--flag=value`.
    ///
    /// # Errors
    ///
    /// Returns a message if a flag is unknown, or if its value is missing or not a number.
    pub(super) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if argument == "--leaks" {
                options.leaks = true;
                continue;
            }
            let (flag, value) = match argument.split_once('=') {
                Some((flag, value)) => (flag, Some(value)),
                None => (argument.as_str(), None),
            };
            let mut value = || {
                let value = value.or_else(|| rest.next().map(String::as_str));
                value.ok_or_else(|| format!("{flag} has no value"))
            };
            match flag {
                "--repo" => options.repositories.push(value()?.into()),
                "--commits" => options.commits = number(flag, value()?)?,
                "--peer-queries" => options.peer_queries = number(flag, value()?)?,
                "--rounds" => options.rounds = number(flag, value()?)?,
                "--reference" => options.references.push(value()?.into()),
                "--queries-out" => options.queries_out = Some(value()?.into()),
                "--lcp" => options.lcp = Some(value()?.into()),
                _ => {
                    return Err(format!("relevance has no argument {flag}; hint: see {HELP}"));
                }
            }
        }
        if options.repositories.is_empty() {
            options.repositories.push(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
        }
        Ok(options)
    }
}

/// The page that explains the arguments.
const HELP: &str = "docs/benchmarks.md";

fn number(flag: &str, value: &str) -> Result<usize, String> {
    value.parse().map_err(|_| format!("{flag} is {value}; hint: give a number"))
}

#[cfg(test)]
mod tests {
    use super::Options;

    fn parse(arguments: &[&str]) -> Result<Options, String> {
        let arguments: Vec<_> = arguments.iter().map(|it| (*it).to_owned()).collect();
        Options::parse(&arguments)
    }

    #[test]
    fn flags_take_values_with_and_without_equal_signs() {
        let options =
            parse(&["--repo", "a", "--repo=b", "--commits=3", "--leaks", "--lcp", "x"]).unwrap();
        let expected = Options {
            repositories: vec!["a".into(), "b".into()],
            commits: 3,
            leaks: true,
            lcp: Some("x".into()),
            ..Options::default()
        };
        assert_eq!(options, expected);
    }

    #[test]
    fn repository_of_the_benchmark_is_the_default() {
        let repositories = parse(&[]).unwrap().repositories;
        assert!(repositories[0].join("bench").is_dir());
    }

    #[test]
    fn wrong_arguments_are_errors() {
        for (arguments, error) in [
            (&["--commits"][..], "--commits has no value"),
            (&["--commits", "x"], "--commits is x; hint: give a number"),
            (&["repo"], "relevance has no argument repo; hint: see docs/benchmarks.md"),
        ] {
            assert_eq!(parse(arguments).unwrap_err(), error);
        }
    }
}
