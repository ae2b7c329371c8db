//! What rules say of files: priority, category, rank, pin (RFC 0010 §3).

use lcp_types::{Annotation, Priority, Tag};

use super::globs::{Globs, Pattern};

/// What is said of a file; what nothing says is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Says {
    /// Its priority.
    pub priority: Option<Priority>,
    /// The share that pays for it.
    pub category: Option<String>,
    /// Its order within its priority, highest first; finite.
    pub rank: Option<f64>,
    /// Whether it is never lowered.
    pub pinned: Option<bool>,
}

/// A rule: what is said of the files that a glob matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Which files.
    pub pattern: Pattern,
    /// What is said of them.
    pub says: Says,
}

/// Rules in their order: for each thing the last that says it wins.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    globs: Globs,
    says: Vec<Says>,
    built_in: Option<BuiltIn>,
}

/// What is known of a file beside its name.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// It differs from the revision that was asked for.
    pub changed: bool,
    /// Its text says that a program made it.
    pub generated: bool,
}

#[derive(Clone, Debug)]
struct BuiltIn {
    globs: Globs,
    says: Vec<Priority>,
}

impl Says {
    /// This priority alone.
    pub fn priority(priority: Priority) -> Self {
        Self { priority: Some(priority), ..Self::default() }
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes over what `later` says.
    fn then(&mut self, later: &Self) {
        self.priority = later.priority.or(self.priority);
        self.category = later.category.clone().or(self.category.take());
        self.rank = later.rank.or(self.rank);
        self.pinned = later.pinned.or(self.pinned);
    }

    /// The annotations of the block with this index.
    pub(super) fn annotations(&self, target: u64) -> Vec<Annotation<'static>> {
        let tag = |key, value: String| Annotation::tag(target, &Tag::new(key, value));
        // Blocks are Normal where nothing is said.
        let priority = self.priority.filter(|priority| *priority != Priority::default());
        priority
            .map(|priority| Annotation::priority(target, priority))
            .into_iter()
            .chain(self.category.clone().map(|category| tag(Tag::CATEGORY, category)))
            .chain(self.rank.map(|rank| tag(Tag::RANK, rank.to_string())))
            .chain(
                (self.pinned == Some(true))
                    .then(|| Annotation::tag(target, &Tag::bare(Tag::PINNED))),
            )
            .collect()
    }
}

impl Rules {
    /// These rules, after the built-in ones where those are wanted.
    ///
    /// # Errors
    ///
    /// In words, where their globs are too large together.
    pub fn new(rules: Vec<Rule>, built_in: bool) -> Result<Self, String> {
        let globs = Globs::new(rules.iter().map(|rule| &rule.pattern))?;
        let says = rules.into_iter().map(|rule| rule.says).collect();
        let built_in = built_in.then(BuiltIn::new).transpose()?;
        Ok(Self { globs, says, built_in })
    }

    /// What they say of a file, by its label and what else is known.
    pub fn of(&self, label: &str, known: Known) -> Says {
        let priority = self.built_in.as_ref().and_then(|rules| rules.of(label, known));
        let mut said = Says { priority, ..Says::default() };
        for rule in self.globs.matches(label) {
            said.then(&self.says[rule]);
        }
        said
    }
}

impl BuiltIn {
    fn new() -> Result<Self, String> {
        let of = |(priority, globs): &(Priority, &[&str])| {
            let rules = globs.iter().map(|glob| Ok((*priority, Pattern::parse(glob)?)));
            rules.collect::<Vec<Result<_, String>>>()
        };
        let rules: Result<Vec<_>, String> = BUILT_IN.iter().flat_map(of).collect();
        let (says, patterns): (Vec<_>, Vec<_>) = rules?.into_iter().unzip();
        Ok(Self { globs: Globs::new(&patterns)?, says })
    }

    fn of(&self, label: &str, known: Known) -> Option<Priority> {
        let matches = self.globs.matches(label);
        let last = matches.last().map(|&rule| self.says[rule]);
        match last {
            _ if known.generated => Some(Priority::Background),
            // A lock file changes with everything, and says no more for it.
            Some(Priority::Background) => last,
            _ if known.changed => Some(Priority::High),
            last => last,
        }
    }
}

/// The built-in rules, the last that matches wins. What has changed is High besides,
/// but for what is Background.
const BUILT_IN: &[(Priority, &[&str])] = &[
    (Priority::High, &["README", "README.*", "Readme.*", "readme.*"]),
    (
        Priority::Low,
        &[
            // Folders.
            "test/",
            "tests/",
            "__tests__/",
            "spec/",
            "specs/",
            "testdata/",
            "fixtures/",
            "__fixtures__/",
            "example/",
            "examples/",
            "bench/",
            "benches/",
            "benchmark/",
            "benchmarks/",
            // What every project says alike.
            "LICENSE*",
            "LICENCE*",
            "COPYING*",
            // Files.
            "*_test.*",
            "*_tests.*",
            "test_*.py",
            "tests.py",
            "tests.rs",
            "conftest.py",
            "*.test.*",
            "*.spec.*",
            "*_spec.rb",
            "*Test.java",
            "*Tests.java",
            "*.bench.*",
            "*_bench.*",
        ],
    ),
    (
        Priority::Background,
        &[
            // What package managers write.
            "*.lock",
            "*.lockb",
            "*-lock.json",
            "*-lock.yaml",
            "npm-shrinkwrap.json",
            "go.sum",
            "packages.lock.json",
            "Package.resolved",
            "gradle.lockfile",
            // What compilers and bundlers write.
            "*.min.js",
            "*.min.mjs",
            "*.min.css",
            "*.map",
            "*.generated.*",
            "*.pb.go",
            "*.pb.cc",
            "*.pb.h",
            "*_pb2.py",
            "*_pb2_grpc.py",
            "*_pb.js",
            "*.g.dart",
            "*.designer.cs",
            "*.snap",
            "generated/",
            "__generated__/",
            "__snapshots__/",
            "vendor/",
            "third_party/",
            "node_modules/",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(glob: &str, says: Says) -> Rule {
        Rule { pattern: Pattern::parse(glob).unwrap(), says }
    }

    #[test]
    fn for_each_thing_the_last_rule_wins() {
        let category = Says { category: Some("docs".to_owned()), ..Says::default() };
        let both = Says { rank: Some(2.0), ..Says::priority(Priority::Low) };
        let rules = [
            rule("*.md", both),
            rule("docs/", category),
            rule("docs/a.md", Says::priority(Priority::Critical)),
        ];
        let rules = Rules::new(rules.into(), false).unwrap();
        let said = rules.of("docs/a.md", Known { changed: true, generated: true });
        assert_eq!(said.priority, Some(Priority::Critical));
        assert_eq!((said.category.as_deref(), said.rank), (Some("docs"), Some(2.0)));
        assert!(rules.of("src/a.rs", Known::default()).is_empty());
    }

    #[test]
    fn built_in_rules() {
        let rules = Rules::new(Vec::new(), true).unwrap();
        let of = |label| rules.of(label, Known::default()).priority;
        let all = [
            (Priority::High, ["README.md", "a/README", "crates/x/Readme.rst"]),
            (Priority::Low, ["tests/it/main.rs", "a/b_test.go", "LICENSE-MIT"]),
            (Priority::Background, ["Cargo.lock", "web/package-lock.json", "vendor/a/README.md"]),
        ];
        for (priority, labels) in all {
            for label in labels {
                assert_eq!(of(label), Some(priority), "{label}");
            }
        }
        for label in ["src/main.rs", "latest/a.rs", "contest.py", "tests"] {
            assert_eq!(of(label), None, "{label}");
        }
    }

    #[test]
    fn changes_are_high_and_what_is_generated_is_not() {
        let rules = Rules::new(Vec::new(), true).unwrap();
        let changed = Known { changed: true, generated: false };
        let of = |label, known| rules.of(label, known).priority;
        assert_eq!(of("src/a.rs", changed), Some(Priority::High));
        assert_eq!(of("tests/a.rs", changed), Some(Priority::High));
        assert_eq!(of("Cargo.lock", changed), Some(Priority::Background));
        let generated = Known { changed: true, generated: true };
        assert_eq!(of("src/a.rs", generated), Some(Priority::Background));
    }

    #[test]
    fn annotations_say_no_more_than_is_needed() {
        assert!(Says::priority(Priority::Normal).annotations(0).is_empty());
        let says = Says {
            priority: Some(Priority::Low),
            category: Some("open_files".to_owned()),
            rank: Some(0.5),
            pinned: Some(true),
        };
        let annotations = says.annotations(3);
        let tags: Vec<_> =
            annotations.iter().filter_map(|of| Some(of.as_tag()?.to_string())).collect();
        assert_eq!(annotations[0].as_priority(), Some(Priority::Low));
        assert_eq!(tags, ["category=open_files", "rank=0.5", "pinned"]);
        assert!(annotations.iter().all(|of| of.target_block_id == 3));
    }
}
