//! Asks all queries of all repositories.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lcp_ingest::outline::{Definition, DefinitionKind, InputKind, definitions};

use super::fill::{Costs, Filled};
use super::installed::Installed;
use super::kinds::language;
use super::options::Options;
use super::peers::{Bm25, by_path, by_recency, perfect};
use super::product::Lcp;
use super::queries::{self, Query};
use super::reference::Reference;
use super::repository::{Checkout, Repository, TreeFile};
use super::rows::{Measured, PEERS, Scored, rows};
use super::timing;
use crate::harness::{Progress, Result};
use crate::programs;
use crate::table::Row;

/// A query of the largest tree so far.
struct Largest {
    files: usize,
    repository: usize,
    parent: String,
    query: String,
}

pub(crate) fn run(arguments: &[String], progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let options = Options::parse(arguments)?;
    let open = |folder: &PathBuf| Repository::open(folder);
    let repositories = options.repositories.iter().map(open).collect::<Result<Vec<_>>>()?;
    let references = options.references.iter().map(|path| Reference::read(path));
    let references = references.collect::<Result<Vec<_>>>()?;
    let mut chosen = Vec::new();
    for repository in &repositories {
        let queries = queries::choose(repository, options.commits, options.leaks)?;
        progress(format!("{}: {} queries", repository.name, queries.len()));
        chosen.push(queries);
    }
    if let Some(path) = &options.queries_out {
        queries::write(path, chosen.iter().flatten())?;
    }
    let folder = tempfile::tempdir()?;
    let program = match &options.lcp {
        Some(program) => program.canonicalize()?,
        None => programs::lcp(progress)?,
    };
    let lcp = Lcp::new(program, folder.path().to_owned());
    let installed = if options.peer_queries > 0 { Installed::all(progress) } else { Vec::new() };

    let mut measured = Vec::new();
    let mut largest: Option<Largest> = None;
    let checkout_folder = |place: usize| folder.path().join("checkouts").join(place.to_string());
    for (place, (repository, queries)) in repositories.iter().zip(&chosen).enumerate() {
        let checkout = repository.checkout(&checkout_folder(place))?;
        let mut asker = Asker {
            lcp: &lcp,
            checkout: &checkout,
            folder: folder.path(),
            costs: Costs::new(outline),
            bm25: Bm25::default(),
        };
        for (number, query) in queries.iter().enumerate() {
            let tree = repository.tree(&query.parent)?;
            checkout.switch(&query.parent)?;
            let programs = if number < options.peer_queries { &installed[..] } else { &[] };
            let query_measured = asker
                .ask(place, query, &tree, programs, progress)
                .map_err(|error| format!("{}: {error}", query.id))?;
            measured.push(query_measured);
            if largest.as_ref().is_none_or(|largest| largest.files < tree.len()) {
                let (parent, query) = (query.parent.clone(), query.text.clone());
                largest = Some(Largest { files: tree.len(), repository: place, parent, query });
            }
            if (number + 1) % 10 == 0 {
                progress(format!("{}: {} queries asked", repository.name, number + 1));
            }
        }
    }
    let names: Vec<_> = repositories.iter().map(|repository| repository.name.clone()).collect();
    let mut rows = rows(&names, &measured, &references);
    match largest {
        Some(largest) if largest.files >= timing::FILES_MIN && options.rounds > 0 => {
            let checkout = Checkout { root: checkout_folder(largest.repository) };
            checkout.switch(&largest.parent)?;
            let what = format!("{} files of {}", largest.files, names[largest.repository]);
            let query = &largest.query;
            rows.extend(timing::rows(&lcp, &checkout, query, &what, options.rounds, progress)?);
        }
        _ => progress("no times are measured".to_owned()),
    }
    Ok(rows)
}

/// Asks the queries of a repository.
struct Asker<'a> {
    lcp: &'a Lcp,
    checkout: &'a Checkout,
    folder: &'a Path,
    costs: Costs,
    bm25: Bm25,
}

impl Asker<'_> {
    fn ask(
        &mut self,
        repository: usize,
        query: &Query,
        tree: &[TreeFile],
        installed: &[Installed],
        progress: &mut Progress<'_>,
    ) -> Result<Measured> {
        let checkout = self.checkout;
        let answer = self.lcp.ask(checkout, &query.text)?;
        let order = answer.order.iter().map(String::as_str);
        let filled = Filled::new(order, tree, checkout, &mut self.costs);
        let mut own = scored(&filled, query);
        own.source.extend(answer.figures(query, checkout));
        let mut score =
            |order: Vec<&str>| scored(&Filled::new(order, tree, checkout, &mut self.costs), query);
        let perfect = Scored {
            source: score(perfect(tree, &query.gold)).source,
            changed: score(perfect(tree, &query.changed)).changed,
        };
        let mut peers = BTreeMap::from([
            (PEERS[0], score(by_path(tree))),
            (PEERS[1], score(by_recency(tree, checkout)?)),
            (PEERS[2], score(self.bm25.order(&query.text, tree, checkout))),
        ]);
        for program in installed {
            match program.order(checkout, &query.text, tree, self.folder) {
                Ok(order) => {
                    peers.insert(program.name, score(order.iter().map(String::as_str).collect()));
                }
                Err(why) => {
                    progress(format!("{} orders no files for {}: {why}", program.name, query.id));
                }
            }
        }
        let in_full = filled.hunks(&query.hunks);
        let commit = query.short().to_owned();
        Ok(Measured { repository, commit, own, in_full, perfect, peers })
    }
}

fn scored(filled: &Filled<'_>, query: &Query) -> Scored {
    Scored { source: filled.figures(&query.gold), changed: filled.figures(&query.changed) }
}

/// Returns the first line of each definition of a source file, without the fields and constants of
/// types, which the outlines of the prototype lack. Other files have none.
fn outline(path: &str, text: &str) -> Vec<String> {
    let Some(language) = language(path) else { return Vec::new() };
    let definitions = definitions(InputKind::Code(language), text);
    let wanted = |found: &&Definition| found.kind != DefinitionKind::Value || found.depth == 0;
    let first: BTreeSet<_> =
        definitions.iter().filter(wanted).map(|found| found.first_line).collect();
    let lines = text.lines().zip(1..).filter(|(_, number)| first.contains(number));
    lines.map(|(line, _)| line.to_owned()).collect()
}
