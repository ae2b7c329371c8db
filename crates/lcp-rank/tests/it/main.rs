//! Rankings of small projects with known answers, and laws of every ranking.

mod answers;
mod laws;
mod overview;

use lcp_ingest::outline::InputKind;
use lcp_rank::{Commit, Document, Query, RankedFile, Ranker};
use lcp_types::Lang;

/// A file of a project: its path and its text.
type File = (&'static str, &'static str);

/// Returns the document of a file.
fn document<'d>(path: &'d str, text: &'d str) -> Document<'d> {
    let kind = match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("rs") => InputKind::Code(Lang::Rust),
        Some("py") => InputKind::Code(Lang::Python),
        Some("md") => InputKind::Document,
        _ => InputKind::Text,
    };
    Document { path, text, kind }
}

/// Ranks files.
fn rank(query: &Query, files: &[Document<'_>], commits: &[Commit]) -> Vec<RankedFile> {
    finish(&mut Ranker::new(query), files, commits)
}

fn finish(ranker: &mut Ranker<'_>, files: &[Document<'_>], commits: &[Commit]) -> Vec<RankedFile> {
    ranker.add(files);
    ranker.set_commits(commits.to_vec());
    let best: Vec<_> = ranker.best().into_iter().map(|file| (file, files[file])).collect();
    ranker.add_passages(&best);
    ranker.finish()
}

/// Returns the paths of a ranking, best first.
fn paths<'d>(ranking: &[RankedFile], files: &[Document<'d>]) -> Vec<&'d str> {
    ranking.iter().map(|ranked| files[ranked.file].path).collect()
}
