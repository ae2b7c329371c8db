//! The overview of a project, for a reader without a question: its description, the entry point of
//! each part, and the signatures that most files use.

mod parts;
mod signatures;

use foldhash::fast::FixedState;
use foldhash::{HashMap, HashMapExt, HashSet};
use lcp_ingest::outline::InputKind;
use lcp_types::Passage;
use rayon::prelude::*;

use crate::document::{Document, RankedFile};
use crate::passages::to_u32;
use crate::role::Role;
use crate::words::identifiers;
use parts::Parts;
use signatures::{Signature, description, exports, signatures};

/// The maximum number of files, of passages, and of bytes of a file in an overview.
const FILES_MAX: usize = 400;
const PASSAGES_MAX: usize = 4_000;
const FILE_BYTES_MAX: usize = 256 << 10;

/// The maximum number of bytes that are read. In a larger project, the overview is made of the
/// first files.
const TOTAL_BYTES_MAX: usize = 96 << 20;

/// The number of signatures of a file that are shown before other files have their turn.
const TURN: usize = 4;

/// The maximum number of lines of the description of a file that is no entry point.
const DESCRIPTION_LINES: usize = 3;

/// The number of files that are read at once.
const CHUNK: usize = 64;

/// Collects the definitions of a project and counts the files that use them.
///
/// ```
/// use lcp_ingest::outline::InputKind;
/// use lcp_rank::{Document, Overview};
/// use lcp_types::Lang;
///
/// let kind = InputKind::Code(Lang::Rust);
/// let files = [
///     Document { path: "src/door.rs", text: "pub fn open() {}\nfn hinge() {}\n", kind },
///     Document { path: "src/main.rs", text: "fn main() { open() }\n", kind },
/// ];
/// let mut overview = Overview::default();
/// overview.add(&files);
/// let ranked = overview.finish();
/// assert_eq!(ranked[0].reasons, ["entry point of src"]);
/// assert_eq!(ranked[1].reasons, ["used by 1 file"]);
/// ```
#[derive(Debug, Default)]
pub struct Overview {
    files: Vec<File>,
    /// The number of files that have an identifier, by its hash.
    users: HashMap<u64, u32>,
    /// The number of files that define it.
    definers: HashMap<u64, u32>,
    bytes: usize,
}

#[derive(Debug)]
struct File {
    path: String,
    role: Role,
    /// The range of lines that describes the file, such as the beginning of a README.
    description: Option<(usize, usize)>,
    signatures: Vec<Signature>,
    /// The ranges of lines that name the parts of a package.
    exports: Vec<(usize, usize)>,
}

/// Passages of a file that are shown together: its description and some of its signatures.
struct Bundle {
    file: usize,
    lines: Vec<(usize, usize)>,
    value: f64,
}

impl Overview {
    /// Adds files.
    pub fn add(&mut self, documents: &[Document<'_>]) {
        let read: Vec<_> = documents
            .par_chunks(CHUNK)
            .flat_map_iter(|documents| {
                documents.iter().map(|document| self.read(document)).collect::<Vec<_>>()
            })
            .collect();
        for ((file, names), document) in read.into_iter().zip(documents) {
            self.bytes += document.text.len();
            for name in names {
                *self.users.entry(name).or_default() += 1;
            }
            let defined: HashSet<_> = file.signatures.iter().map(|one| hash(&one.name)).collect();
            for name in defined {
                *self.definers.entry(name).or_default() += 1;
            }
            self.files.push(file);
        }
    }

    /// Reads a file. Returns it, and the hashes of its identifiers.
    fn read(&self, document: &Document<'_>) -> (File, HashSet<u64>) {
        let role = Role::new(document.path, document.kind);
        let is_read = role != Role::Generated
            && document.text.len() <= FILE_BYTES_MAX
            && self.bytes <= TOTAL_BYTES_MAX;
        let mut file = File {
            path: document.path.to_owned(),
            role,
            description: None,
            signatures: Vec::new(),
            exports: Vec::new(),
        };
        let mut names = HashSet::default();
        if !is_read {
            return (file, names);
        }
        file.description = description(document);
        if matches!(document.kind, InputKind::Code(_) | InputKind::TaggedCode(_)) {
            names.extend(identifiers(document.text).map(|(_, name)| hash(name)));
            if role == Role::Source {
                file.signatures = signatures(document);
                file.exports = exports(document);
            }
        }
        (file, names)
    }

    /// Returns the files of the overview, the most important first. It is empty for a project
    /// without code.
    #[must_use]
    pub fn finish(self) -> Vec<RankedFile> {
        if self.files.iter().all(|file| file.signatures.is_empty()) {
            return Vec::new();
        }
        let paths: Vec<_> = self.files.iter().map(|file| file.path.as_str()).collect();
        let weights: Vec<_> = self
            .files
            .iter()
            .map(|file| (file.role == Role::Source).then(|| self.weight(file)))
            .collect();
        let parts = Parts::new(&paths, &weights);
        let mean = parts.iter().map(|part| part.weight).sum::<f64>() / parts.len().max(1) as f64;
        // The best bundle of each part is the last one.
        let mut turns: Vec<_> = parts
            .iter()
            .map(|part| {
                let bundles = part.files.iter().flat_map(|file| self.bundles(*file, part.entry));
                let mut bundles: Vec<_> = bundles.collect();
                bundles.sort_by(|a, b| {
                    let by_path = || paths[b.file].cmp(paths[a.file]);
                    a.value.total_cmp(&b.value).then_with(by_path)
                });
                // Parts that are used more than others have two bundles at a time.
                (bundles, if part.weight > mean { 2 } else { 1 })
            })
            .collect();
        let mut chosen: Vec<_> = self.readme(&paths).into_iter().collect();
        let mut lines = 0;
        for round in 0.. {
            if lines >= PASSAGES_MAX || turns.iter().all(|(bundles, _)| bundles.is_empty()) {
                break;
            }
            for (bundles, at_once) in &mut turns {
                // All parts have their entry point first.
                let count = if round == 0 { 1 } else { *at_once };
                let rest = bundles.len().saturating_sub(count);
                chosen.extend(bundles.drain(rest..).rev());
            }
            lines = chosen.iter().map(|bundle: &Bundle| bundle.lines.len()).sum();
        }
        self.rank(&parts, &chosen)
    }

    /// Returns the value of a definition by its form and the number of other files that use it.
    fn value(&self, one: &Signature) -> f64 {
        let definers = self.definers.get(&hash(&one.name)).copied().unwrap_or(0).max(1);
        one.factor * libm::log1p(f64::from(self.uses(&one.name))) / f64::from(definers)
    }

    /// Returns the number of other files that use a definition.
    fn uses(&self, name: &str) -> u32 {
        self.users.get(&hash(name)).copied().unwrap_or(0).saturating_sub(1)
    }

    fn weight(&self, file: &File) -> f64 {
        file.signatures.iter().map(|one| self.value(one)).sum()
    }

    /// Returns the bundles of a file. That of the entry point of its part has the highest value.
    fn bundles(&self, file: usize, entry: Option<usize>) -> Vec<Bundle> {
        let lines_of = &self.files[file];
        let is_entry = entry == Some(file);
        let description = lines_of
            .description
            .filter(|(first, last)| is_entry || last - first < DESCRIPTION_LINES);
        let mut lines: Vec<_> = description.into_iter().collect();
        let mut next = description.map_or(0, |(_, last)| last);
        let exports = lines_of.exports.iter().filter(|(first, _)| is_entry && *first > next);
        lines.extend(exports.copied());
        let is_shown = |one: &Signature| {
            lines.iter().any(|(first, last)| one.first <= *last && one.last >= *first)
        };
        let mut signatures: Vec<&Signature> = Vec::new();
        // Private definitions are shown only of files without public ones, such as programs.
        let has_public =
            !lines_of.exports.is_empty() || lines_of.signatures.iter().any(|one| one.is_public);
        for one in lines_of.signatures.iter().filter(|one| one.is_public || !has_public) {
            if one.first > next && !is_shown(one) {
                next = one.last;
                signatures.push(one);
            }
        }
        signatures
            .sort_by(|a, b| self.value(b).total_cmp(&self.value(a)).then(a.first.cmp(&b.first)));
        let mut bundles: Vec<_> = signatures
            .chunks(TURN)
            .map(|signatures| Bundle {
                file,
                lines: signatures.iter().map(|one| (one.first, one.last)).collect(),
                value: signatures.iter().map(|one| self.value(one)).sum(),
            })
            .collect();
        if is_entry && bundles.is_empty() && !lines.is_empty() {
            bundles.push(Bundle { file, lines: Vec::new(), value: 0.0 });
        }
        if let Some(first) = bundles.first_mut() {
            first.lines.splice(0..0, lines);
            if is_entry {
                first.value = f64::INFINITY;
            }
        }
        bundles
    }

    /// Returns the beginning of the README at the top.
    fn readme(&self, paths: &[&str]) -> Option<Bundle> {
        let is_readme =
            |path: &str| !path.contains('/') && path.to_lowercase().starts_with("readme");
        let file =
            (0..paths.len()).filter(|at| is_readme(paths[*at])).min_by_key(|at| paths[*at])?;
        let lines = vec![self.files[file].description?];
        Some(Bundle { file, lines, value: f64::INFINITY })
    }

    /// Returns the files of the chosen bundles, in their order.
    fn rank(&self, parts: &Parts, chosen: &[Bundle]) -> Vec<RankedFile> {
        let count = chosen.iter().map(|bundle| bundle.lines.len()).sum::<usize>().max(1);
        let mut order: Vec<usize> = Vec::new();
        let mut passages: HashMap<usize, Vec<Passage>> = HashMap::new();
        let lines =
            chosen.iter().flat_map(|bundle| bundle.lines.iter().map(|it| (bundle.file, *it)));
        for (place, (file, (first, last))) in lines.enumerate().take(PASSAGES_MAX) {
            let of_file = passages.entry(file).or_default();
            if of_file.is_empty() {
                if order.len() == FILES_MAX {
                    continue;
                }
                order.push(file);
            }
            let score = u16::try_from(1 + (count - 1 - place) * 998 / count).unwrap_or(1);
            of_file.push(Passage { first: to_u32(first), last: to_u32(last), score });
        }
        let files = order.len();
        let ranked = order.into_iter().enumerate().map(|(place, file)| {
            let mut passages = passages.remove(&file).unwrap_or_default();
            passages.sort_by_key(|passage| passage.first);
            let score = ((files - place) as f64 / files as f64 * 1e6).round() / 1e6;
            RankedFile {
                file,
                score,
                is_named: false,
                reasons: self.reasons(parts, file),
                passages,
            }
        });
        ranked.collect()
    }

    fn reasons(&self, parts: &Parts, file: usize) -> Vec<String> {
        if let Some(folder) = parts.entry_of(file) {
            let name = if folder.is_empty() { "the project" } else { folder };
            return vec![format!("entry point of {name}")];
        }
        let of = &self.files[file];
        if of.role != Role::Source {
            return vec!["description of the project".to_owned()];
        }
        let uses = of.signatures.iter().map(|one| self.uses(&one.name)).max().unwrap_or(0);
        vec![format!("used by {uses} file{}", if uses == 1 { "" } else { "s" })]
    }
}

/// Returns the hash of an identifier.
fn hash(name: &str) -> u64 {
    use std::hash::BuildHasher as _;

    FixedState::default().hash_one(name)
}
