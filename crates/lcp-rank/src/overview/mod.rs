//! The overview of a project, for a reader without a question: its description, the entry point of
//! each part, and the signatures that most files use.

mod parts;
mod signatures;

use foldhash::fast::FixedState;
use foldhash::{HashMap, HashMapExt, HashSet};
use lcp_ingest::outline::InputKind;
use lcp_types::Passage;
use rayon::prelude::*;

use crate::passages::to_u32;
use crate::ranking::{Document, RankedFile};
use crate::role::Role;
use crate::words::identifiers;
use parts::Parts;
use signatures::{Signature, description, signatures};

/// The maximum number of files, of passages, and of bytes of a file in an overview.
const FILES_MAX: usize = 400;
const PASSAGES_MAX: usize = 4_000;
const FILE_BYTES_MAX: usize = 256 << 10;

/// The maximum number of bytes that are read. In a larger project, the overview is made of the
/// first files.
const TOTAL_BYTES_MAX: usize = 96 << 20;

/// The number of signatures of each part that are shown before the next part has its turn.
const TURN: usize = 3;

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
}

/// A part of a file for the overview.
struct Candidate {
    file: usize,
    first: usize,
    last: usize,
    value: f64,
}

impl Overview {
    /// Adds files.
    pub fn add(&mut self, documents: &[Document<'_>]) {
        let read: Vec<_> = documents.par_chunks(CHUNK).flat_map_iter(|documents| {
            documents.iter().map(|document| self.read(document)).collect::<Vec<_>>()
        }).collect();
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
            }
        }
        (file, names)
    }

    /// Returns the files of the overview, the most important first. It is empty for a project
    /// without code.
    #[must_use]
    pub fn finish(self) -> Vec<RankedFile> {
        let paths: Vec<_> = self.files.iter().map(|file| file.path.as_str()).collect();
        let weights: Vec<_> = self.files.iter().map(|file| self.weight(file)).collect();
        let parts = Parts::new(&paths, &weights);
        let mut turns: Vec<Vec<Candidate>> = parts
            .iter()
            .map(|part| {
                let mut candidates: Vec<_> =
                    part.files.iter().flat_map(|file| self.candidates(*file)).collect();
                candidates.sort_by(|a, b| {
                    let is_entry = |one: &Candidate| Some(one.file) == part.entry;
                    let is_description = |one: &Candidate| is_entry(one) && one.value.is_infinite();
                    is_description(b).cmp(&is_description(a))
                        .then_with(|| b.value.total_cmp(&a.value))
                        .then_with(|| paths[a.file].cmp(paths[b.file]))
                        .then_with(|| a.first.cmp(&b.first))
                });
                candidates.reverse();
                candidates
            })
            .collect();
        if self.files.iter().all(|file| file.signatures.is_empty()) {
            return Vec::new();
        }
        let mut chosen: Vec<Candidate> = self.readme(&paths).into_iter().collect();
        while chosen.len() < PASSAGES_MAX && turns.iter().any(|turn| !turn.is_empty()) {
            for turn in &mut turns {
                let rest = turn.len().saturating_sub(TURN);
                chosen.extend(turn.drain(rest..).rev());
            }
        }
        chosen.truncate(PASSAGES_MAX);
        self.rank(&parts, chosen)
    }

    /// Returns the value of a definition by the number of other files that use it.
    fn value(&self, name: &str) -> f64 {
        let hash = hash(name);
        let definers = self.definers.get(&hash).copied().unwrap_or(0).max(1);
        libm::log1p(f64::from(self.uses(name))) / f64::from(definers)
    }

    /// Returns the number of other files that use a definition.
    fn uses(&self, name: &str) -> u32 {
        self.users.get(&hash(name)).copied().unwrap_or(0).saturating_sub(1)
    }

    fn weight(&self, file: &File) -> f64 {
        file.signatures.iter().map(|one| self.value(&one.name)).sum()
    }

    /// Returns the parts of a file that can be shown.
    fn candidates(&self, file: usize) -> Vec<Candidate> {
        let of = &self.files[file];
        if of.role != Role::Source {
            return Vec::new();
        }
        let describes = of.description.map(|(first, last)| Candidate {
            file,
            first,
            last,
            value: f64::INFINITY,
        });
        let mut next = describes.as_ref().map_or(0, |one| one.last);
        let mut candidates: Vec<_> = describes.into_iter().collect();
        for one in &of.signatures {
            if one.first > next {
                let value = self.value(&one.name) * if one.is_public { 1.0 } else { 0.2 };
                candidates.push(Candidate { file, first: one.first, last: one.last, value });
                next = one.last;
            }
        }
        // Only the entry point of a part is described before its signatures.
        let best = self.weight(of);
        for one in &mut candidates {
            if one.value.is_infinite() && !parts::is_entry_name(&of.path) {
                one.value = libm::log1p(best) / 2.0;
            }
        }
        candidates
    }

    /// Returns the beginning of the README at the top.
    fn readme(&self, paths: &[&str]) -> Option<Candidate> {
        let is_readme = |path: &str| !path.contains('/') && path.to_lowercase().starts_with("readme");
        let file = (0..paths.len()).filter(|at| is_readme(paths[*at])).min_by_key(|at| paths[*at])?;
        let (first, last) = self.files[file].description?;
        Some(Candidate { file, first, last, value: f64::INFINITY })
    }

    /// Returns the files of the chosen candidates, in their order.
    fn rank(&self, parts: &Parts, chosen: Vec<Candidate>) -> Vec<RankedFile> {
        let count = chosen.len().max(1);
        let mut order: Vec<usize> = Vec::new();
        let mut passages: HashMap<usize, Vec<Passage>> = HashMap::new();
        for (place, one) in chosen.into_iter().enumerate() {
            let of_file = passages.entry(one.file).or_default();
            if of_file.is_empty() {
                if order.len() == FILES_MAX {
                    continue;
                }
                order.push(one.file);
            }
            let score = u16::try_from(1 + (count - 1 - place) * 998 / count).unwrap_or(1);
            of_file.push(Passage { first: to_u32(one.first), last: to_u32(one.last), score });
        }
        let files = order.len();
        let ranked = order.into_iter().enumerate().map(|(place, file)| {
            let mut passages = passages.remove(&file).unwrap_or_default();
            passages.sort_by_key(|passage| passage.first);
            let score = ((files - place) as f64 / files as f64 * 1e6).round() / 1e6;
            RankedFile { file, score, reasons: self.reasons(parts, file), passages }
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
