//! Rules: the priority, category, rank and pin of files (RFC 0010 §3).

use lcp_types::{Annotation, Priority, Tag};

use crate::globs::{Globs, Pattern};

/// The attributes of a block; `None` where no rule sets one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockAttributes {
    /// Its priority.
    pub priority: Option<Priority>,
    /// The share that pays for it.
    pub category: Option<String>,
    /// Its order within its priority, highest first; finite.
    pub rank: Option<f64>,
    /// Whether a budget never cuts it.
    pub pinned: Option<bool>,
}

/// A rule: the attributes of the files that a glob matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The files.
    pub pattern: Pattern,
    /// Their attributes.
    pub attributes: BlockAttributes,
}

/// Rules in order: of those that set an attribute, the last wins.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    globs: Globs,
    attributes: Vec<BlockAttributes>,
    defaults: Option<DefaultRules>,
}

/// Facts about a file besides its name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FileInfo {
    /// It differs from the revision that the options name.
    pub(crate) changed: bool,
    /// It is generated or minified.
    pub(crate) generated: bool,
}

#[derive(Clone, Debug)]
struct DefaultRules {
    globs: Globs,
    priorities: Vec<Priority>,
}

impl BlockAttributes {
    /// Returns attributes with a priority alone.
    #[must_use]
    pub fn with_priority(priority: Priority) -> Self {
        Self { priority: Some(priority), ..Self::default() }
    }

    /// Returns whether no attribute is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Overwrites the attributes that `later` sets.
    fn merge(&mut self, later: &Self) {
        self.priority = later.priority.or(self.priority);
        self.category = later.category.clone().or(self.category.take());
        self.rank = later.rank.or(self.rank);
        self.pinned = later.pinned.or(self.pinned);
    }

    /// Returns the annotations of the block with this index.
    pub(crate) fn to_annotations(&self, target: u64) -> Vec<Annotation<'static>> {
        let tag = |key, value: String| Annotation::tag(target, &Tag::new(key, value));
        // Blocks are Normal without an annotation.
        let priority = self.priority.filter(|priority| *priority != Priority::default());
        priority
            .map(|priority| Annotation::priority(target, priority))
            .into_iter()
            .chain(self.category.clone().map(|category| tag(Tag::CATEGORY, category)))
            .chain(self.rank.map(|rank| tag(Tag::RANK, rank.to_string())))
            .chain(
                (self.pinned == Some(true))
                    .then(|| Annotation::tag(target, &Tag::from_key(Tag::PINNED))),
            )
            .collect()
    }
}

impl Rules {
    /// Compiles these rules, after the built-in ones if those are wanted.
    ///
    /// # Errors
    ///
    /// A message, if their globs are too large together.
    pub fn new(rules: Vec<Rule>, use_defaults: bool) -> Result<Self, String> {
        let globs = Globs::new(rules.iter().map(|rule| &rule.pattern))?;
        let attributes = rules.into_iter().map(|rule| rule.attributes).collect();
        let defaults = use_defaults.then(DefaultRules::new).transpose()?;
        Ok(Self { globs, attributes, defaults })
    }

    /// Returns the attributes of the file with this label.
    pub(crate) fn attributes(&self, label: &str, info: FileInfo) -> BlockAttributes {
        let priority = self.defaults.as_ref().and_then(|rules| rules.priority(label, info));
        let mut attributes = BlockAttributes { priority, ..BlockAttributes::default() };
        for rule in self.globs.matches(label) {
            attributes.merge(&self.attributes[rule]);
        }
        attributes
    }
}

impl DefaultRules {
    fn new() -> Result<Self, String> {
        let expand = |(priority, globs): &'static (Priority, &str)| {
            globs.split(' ').map(|glob| Ok((*priority, Pattern::parse(glob)?)))
        };
        let rules: Result<Vec<_>, String> = DEFAULT_RULES.iter().flat_map(expand).collect();
        let (priorities, patterns): (Vec<_>, Vec<_>) = rules?.into_iter().unzip();
        Ok(Self { globs: Globs::new(&patterns)?, priorities })
    }

    fn priority(&self, label: &str, info: FileInfo) -> Option<Priority> {
        let matches = self.globs.matches(label);
        let last = matches.last().map(|&rule| self.priorities[rule]);
        match last {
            _ if info.generated => Some(Priority::Background),
            // A lock file changes with everything else.
            Some(Priority::Background) => last,
            _ if info.changed => Some(Priority::High),
            last => last,
        }
    }
}

/// The default rules; the last match wins. Changed files are High unless Background.
const DEFAULT_RULES: &[(Priority, &str)] = &[
    (Priority::High, "README README.* Readme.* readme.*"),
    // Folders.
    (
        Priority::Low,
        "test/ tests/ __tests__/ spec/ specs/ testdata/ fixtures/ __fixtures__/ example/ \
         examples/ bench/ benches/ benchmark/ benchmarks/",
    ),
    // Files that most projects have alike.
    (Priority::Low, "LICENSE* LICENCE* COPYING*"),
    // Files.
    (
        Priority::Low,
        "*_test.* *_tests.* test_*.py tests.py tests.rs conftest.py *.test.* *.spec.* *_spec.rb \
         *Test.java *Tests.java *.bench.* *_bench.*",
    ),
    // Written by package managers.
    (
        Priority::Background,
        "*.lock *.lockb *-lock.json *-lock.yaml npm-shrinkwrap.json go.sum packages.lock.json \
         Package.resolved gradle.lockfile",
    ),
    // Written by compilers and bundlers.
    (
        Priority::Background,
        "*.min.js *.min.mjs *.min.css *.map *.generated.* *.pb.go *.pb.cc *.pb.h *_pb2.py \
         *_pb2_grpc.py *_pb.js *.g.dart *.designer.cs *.snap generated/ __generated__/ \
         __snapshots__/ vendor/ third_party/ node_modules/",
    ),
];

#[cfg(test)]
mod tests;
