//! Files and lines that a question names: paths, `file:line`, modules, and frames of stack traces.

use std::collections::{BTreeMap, BTreeSet};

use crate::paths::{file_name, is_file_name, module_name};

/// The certainty of a name.
const PATH: f64 = 1.0;
const MODULE: f64 = 0.7;
const FILE_NAME: f64 = 0.5;

/// The maximum number of files that a file name or module can mean. More of them mean nothing.
const CANDIDATES_MAX: usize = 3;

/// The maximum number of names that are looked up.
const NAMES_MAX: usize = 2_000;

/// A file that a question names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Mention {
    /// The certainty that the name means this file, from 0 to 1.
    pub(crate) certainty: f64,
    /// The name as the question has it.
    pub(crate) name: String,
    /// The lines that the question names, from 1.
    pub(crate) lines: Vec<usize>,
}

/// The files that a question names.
#[derive(Debug, Default)]
pub(crate) struct Mentions {
    pub(crate) by_file: BTreeMap<usize, Mention>,
    /// The files that the caller names, by [`Query::with_mention`](crate::Query::with_mention).
    pub(crate) named: BTreeSet<usize>,
}

impl Mentions {
    /// Finds the names in a text.
    pub(crate) fn new(index: &PathIndex<'_>, text: &str) -> Self {
        Self { by_file: index.mentions(text), named: BTreeSet::new() }
    }

    /// Adds files that the caller names.
    pub(crate) fn name(&mut self, name: &str, files: &[usize]) {
        for file in files {
            let mention = self.by_file.entry(*file).or_default();
            (mention.certainty, mention.name) = (1.0, name.to_owned());
            self.named.insert(*file);
        }
    }
}

/// The files of a pack by the last part of their paths.
pub(crate) struct PathIndex<'p> {
    paths: Vec<&'p str>,
    by_name: BTreeMap<&'p str, Vec<usize>>,
    by_stem: BTreeMap<&'p str, Vec<usize>>,
}

impl<'p> PathIndex<'p> {
    pub(crate) fn new(paths: Vec<&'p str>) -> Self {
        let (mut by_name, mut by_stem) = (BTreeMap::new(), BTreeMap::new());
        for (at, path) in paths.iter().copied().enumerate() {
            let name = file_name(path);
            by_name.entry(name).or_insert_with(Vec::new).push(at);
            by_stem.entry(module_name(path)).or_insert_with(Vec::new).push(at);
        }
        Self { paths, by_name, by_stem }
    }

    /// Returns the files that a text names.
    fn mentions(&self, text: &str) -> BTreeMap<usize, Mention> {
        let mut mentions = BTreeMap::new();
        for name in names(text).into_iter().take(NAMES_MAX) {
            let (certainty, files) = self.find(name.text);
            for file in files {
                let mention: &mut Mention = mentions.entry(file).or_default();
                if certainty > mention.certainty {
                    mention.certainty = certainty;
                    name.text.clone_into(&mut mention.name);
                }
                mention.lines.extend(name.line);
            }
        }
        mentions
    }

    /// Returns the file with this path.
    pub(crate) fn exact(&self, path: &str) -> Option<usize> {
        let path = path.trim_start_matches("./");
        let files = self.by_name.get(file_name(path))?;
        files.iter().copied().find(|file| self.paths[*file] == path)
    }

    /// Returns the files that a name means, and how certain that is.
    pub(crate) fn find(&self, name: &str) -> (f64, Vec<usize>) {
        let name = name.trim_start_matches("./");
        if is_file_name(file_name(name)) {
            let files = self.by_name.get(file_name(name)).map_or(&[][..], Vec::as_slice);
            if name.contains('/') {
                let parts = name.trim_matches('/').split('/').collect::<Vec<_>>();
                return (PATH, self.longest_match(files, &parts, 2));
            }
            let few = self.are_few(files);
            return (FILE_NAME, if few { files.to_vec() } else { Vec::new() });
        }
        let separator = if name.contains("::") { "::" } else { "." };
        let parts: Vec<_> = name.split(separator).filter(|part| !part.is_empty()).collect();
        // The last parts of a path to a symbol are not modules.
        for len in (2..=parts.len()).rev() {
            let files = self.by_stem.get(parts[len - 1]).map_or(&[][..], Vec::as_slice);
            let files = self.longest_match(files, &parts[..len], 2);
            if !files.is_empty() && self.are_few(&files) {
                return (MODULE, files);
            }
        }
        (0.0, Vec::new())
    }

    /// Returns whether a name can mean these files. A session can have a file several times.
    fn are_few(&self, files: &[usize]) -> bool {
        let paths: BTreeSet<_> = files.iter().map(|file| self.paths[*file]).collect();
        paths.len() <= CANDIDATES_MAX
    }

    /// Returns the files with the longest common end of their path with `parts`, if at least
    /// `least` parts are the same.
    fn longest_match(&self, files: &[usize], parts: &[&str], least: usize) -> Vec<usize> {
        let common = |file: usize| {
            let path = self.paths[file];
            let path = path.strip_suffix(file_name(path)).unwrap_or(path);
            let module = module_name(self.paths[file]);
            let is_module = parts.last() == Some(&module);
            let folders = path.trim_end_matches('/').rsplit('/');
            // The folder of a file such as `mod.rs` is the module.
            let skipped = usize::from(is_module && path.trim_end_matches('/').ends_with(module));
            let wanted = parts.iter().rev().skip(1);
            1 + folders.skip(skipped).zip(wanted).take_while(|(a, b)| a == *b).count()
        };
        let least = least.min(parts.len());
        let most = files.iter().map(|file| common(*file)).max().filter(|most| *most >= least);
        let matching = files.iter().copied().filter(|file| Some(common(*file)) == most);
        matching.collect()
    }
}

/// A name in a text.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Name<'t> {
    text: &'t str,
    line: Option<usize>,
}

/// Returns the paths and file names in a text.
pub(crate) fn file_names(text: &str) -> impl Iterator<Item = &str> {
    let names = names(text).into_iter().take(NAMES_MAX).map(|name| name.text);
    names.filter(|name| is_file_name(file_name(name)))
}

/// Returns the names of a text that may be files or modules.
fn names(text: &str) -> Vec<Name<'_>> {
    let is_part = |c: char| c.is_alphanumeric() || "_-./\\:@+".contains(c);
    let mut names = Vec::new();
    for line in text.lines() {
        for (word, rest) in words_with_rest(line, is_part) {
            let word = word.trim_start_matches("file://").trim_matches(['.', ':', '-', '@', '+']);
            let (name, number) = split_line_number(word);
            let number = number.or_else(|| python_line(rest));
            let is_dotted = name.contains("::") || name.contains('.') || name.contains('/');
            if is_dotted && name.len() > 2 {
                names.push(Name { text: name, line: number });
            }
        }
    }
    names
}

/// Returns the words of a line, each with the rest of the line.
fn words_with_rest(
    line: &str,
    is_part: impl Fn(char) -> bool + Copy,
) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let start = rest.find(is_part)?;
        let word = &rest[start..];
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        rest = &word[end..];
        Some((&word[..end], rest))
    })
}

/// Splits `src/main.rs:10:5` into the path and the line.
fn split_line_number(word: &str) -> (&str, Option<usize>) {
    // Addresses of web pages and drives have other colons.
    let mut colons = word.match_indices(':').map(|(at, _)| at);
    let end = colons.find(|at| is_file_name(file_name(&word[..*at])));
    match end.map(|end| (&word[..end], &word[end + 1..])) {
        Some((name, rest)) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
            (name, digits.parse().ok())
        }
        _ => (word, None),
    }
}

/// Returns the line of `File "a.py", line 12, in f`, from the text after the path.
fn python_line(rest: &str) -> Option<usize> {
    let number = rest.strip_prefix("\", line ")?;
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: [&str; 9] = [
        "src/main.rs", "src/net/mod.rs", "src/net/retry.rs", "lib/app/models.py",
        "lib/app/__init__.py", "cmd/root.go", "web/src/index.ts", "java/com/acme/Door.java",
        "other/main.rs",
    ];

    fn mentioned(text: &str) -> Vec<(&'static str, Vec<usize>)> {
        let index = PathIndex::new(PATHS.to_vec());
        let mentions = index.mentions(text);
        mentions.into_iter().map(|(at, mention)| (PATHS[at], mention.lines)).collect()
    }

    #[test]
    fn frames_of_stack_traces_name_files_and_lines() {
        let rust = "   2: net::retry::wait\n             at ./src/net/retry.rs:14:9";
        assert_eq!(mentioned(rust), [("src/net/retry.rs", vec![14])]);
        let python = "  File \"/app/lib/app/models.py\", line 88, in save\n    raise ValueError";
        assert_eq!(mentioned(python), [("lib/app/models.py", vec![88])]);
        let node = "    at main (/srv/app/web/src/index.ts:3:11)";
        assert_eq!(mentioned(node), [("web/src/index.ts", vec![3])]);
        let go = "main.run()\n\t/home/me/cmd/root.go:52 +0x1d";
        assert_eq!(mentioned(go), [("cmd/root.go", vec![52])]);
        let page = "at setup (http://localhost:3000/web/src/index.ts:12:3)";
        assert_eq!(mentioned(page), [("web/src/index.ts", vec![12])]);
        let java = "\tat com.acme.Door.open(Door.java:7)";
        assert_eq!(mentioned(java), [("java/com/acme/Door.java", vec![7])]);
    }

    #[test]
    fn modules_name_files() {
        assert_eq!(mentioned("`net::retry::wait` hangs"), [("src/net/retry.rs", vec![])]);
        assert_eq!(mentioned("import app.models"), [("lib/app/models.py", vec![])]);
    }

    #[test]
    fn longer_paths_win_and_common_names_mean_nothing_alone() {
        assert_eq!(mentioned("see other/main.rs."), [("other/main.rs", vec![])]);
        assert_eq!(mentioned("the main function, e.g. in a file"), []);
    }
}
