//! Rules that set the priority, category, rank and pin of files (RFC 0010 §3).

use std::sync::LazyLock;

use lcp_types::{Annotation, Priority, Tag};

use crate::globs::{Globs, Pattern};

/// The attributes of a block. An attribute that no rule sets is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockAttributes {
    /// The priority.
    pub priority: Option<Priority>,
    /// The category, which names the share of the budget that the block uses.
    pub category: Option<String>,
    /// The order within the priority, highest first. It must be finite.
    pub rank: Option<f64>,
    /// `true` if the block is pinned: a budget never shortens it.
    pub pinned: Option<bool>,
}

/// A rule, which sets the attributes of the files that a glob matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The glob that selects the files.
    pub pattern: Pattern,
    /// The attributes to set.
    pub attributes: BlockAttributes,
}

/// An ordered list of rules. If several rules set the same attribute, the last one wins.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    globs: Globs,
    attributes: Vec<BlockAttributes>,
    defaults: Option<DefaultRules>,
}

/// Properties of a file other than its name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FileInfo {
    /// `true` if the file differs from the revision in the options.
    pub(crate) changed: bool,
    /// `true` if the file is generated or minified, `None` if nothing shows either.
    pub(crate) generated: Option<bool>,
    /// `true` if the file is a copy from another project.
    pub(crate) vendored: bool,
    /// `true` if the file is documentation.
    pub(crate) documentation: bool,
}

#[derive(Clone, Debug)]
struct DefaultRules {
    globs: Globs,
    priorities: Vec<Priority>,
}

impl BlockAttributes {
    /// Returns attributes that set only the priority.
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
        // A block without an annotation has the default priority.
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
    /// Compiles these rules. With `use_defaults`, the built-in rules come before them.
    ///
    /// # Errors
    ///
    /// Returns a message if the globs are too large together.
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

/// Returns the priority that the built-in rules give to a path; `None` if no rule does.
#[must_use]
pub fn default_priority(label: &str) -> Option<Priority> {
    static RULES: LazyLock<Option<DefaultRules>> = LazyLock::new(|| DefaultRules::new().ok());
    RULES.as_ref()?.priority(label, FileInfo::default())
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
        let last = last.or(info.documentation.then_some(Priority::Low));
        match last {
            _ if info.generated == Some(true) || info.vendored => Some(Priority::Background),
            // Lock files and other generated files change with everything else, so they remain
            // Background.
            Some(Priority::Background) if info.generated.is_none() => last,
            _ if info.changed => Some(Priority::High),
            Some(Priority::Background) => None,
            last => last,
        }
    }
}

/// The default rules. The last match wins. Changed files are High unless a rule makes them
/// Background.
const DEFAULT_RULES: &[(Priority, &str)] = &[
    (Priority::High, "README README.* Readme.* readme.*"),
    // Folders.
    (
        Priority::Low,
        "test/ tests/ __tests__/ spec/ specs/ testdata/ fixtures/ __fixtures__/ example/ \
         examples/ bench/ benches/ benchmark/ benchmarks/",
    ),
    // Files that are much the same in most projects.
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
    // Written by drawing programs.
    (Priority::Background, "*.svg"),
];

#[cfg(test)]
mod tests;
