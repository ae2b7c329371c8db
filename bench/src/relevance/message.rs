//! Commit messages as queries: which messages are about code, and what is removed from them.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::kinds::{name, regex};

/// The beginnings of subjects of routine commits, as patterns.
const ROUTINE_STARTS: &[&str] = &[
    // Releases and dependencies.
    "bump",
    "release",
    "prepare",
    "publish",
    "version",
    r"v?\d+\.\d+",
    "update changelog",
    r"update .* to v?\d",
    "upgrade .* to",
    "update dependenc",
    "update deps",
    "sync ",
    // Commits about other commits.
    "revert",
    "merge",
    "rollback",
    "backport",
    "cherry.?pick",
    "fixup!",
    "squash!",
    r"wip\b",
    "oops",
    r"\[pre-commit",
    r"\[automated",
    // Reviews and small corrections.
    "apply suggestion",
    "address ",
    "code review",
    "review ",
    "more ",
    "minor ",
    "clean.?up",
    r"nits?\b",
    r"fix (the )?(build|ci|tests?|merge)\b",
    // Conventional types that are not about behavior.
    r"(chore|style|docs?|ci|build|tests?|release|deps)(\([^)]*\))?!?:",
];

/// Words of subjects that are about form, tools or versions.
const ROUTINE_WORDS: &[&str] = &[
    "black", "changelog", "clippy", "copyright", "dependabot", "deps", "eslint", "flake8",
    "format(ting)?", "gofmt", "gofumpt", "golangci", "licen[sc]e headers?", "lint(er|ing|s)?",
    "mypy", "prettier", "pyupgrade", "reformat", "renovate", "ruff", "rustfmt", "spelling",
    "typos?", "whitespace",
];

/// Parts of the names of authors that are programs.
const PROGRAMS: &str = r"(?i)\[bot\]|dependabot|github-actions|pre-commit-ci|renovate";

/// A line of a message that refers to people, issues or other commits.
const TRAILER: &str = r"(?i)^(acked-by|cc|change-id|closes?|co-authored-by|fix(es|ed)?|issue|part of|pr-url|refs?|related( to)?|resolves?|reviewed-by|see|signed-off-by|\(cherry picked)\b[:# ].{0,60}$";

/// A line that a template or a tool added: check boxes, headings of templates, authors.
const TEMPLATE: &str = r"(?i)^\s*([-*] \[[ x]\]|#+ .*(changes|checklist|description|summary)|(co-authored|signed-off)-by)";

/// A path with folders, or a bare name of a file with a known extension; each may have a line and a
/// column. The first group of each is the character before it.
const PATHS: [&str; 2] = [
    r"(^|[^\w@])[\w.@~+-]*(?:/[\w.@~+-]+)+\.\w{1,5}\b(?::\d+)*",
    r"(^|[^\w/])[\w.-]+\.(?:cjs|go|json|jsx?|md|mjs|mts|pyi?|rs|rst|toml|tsx?|ya?ml)\b(?::\d+)*",
];

/// Numbers of issues, and hashes of commits.
const REFERENCE: &str = r"\(?\b(?:gh-|GH-|#)\d+\)?|\(#\d+\)|\b[0-9a-f]{7,40}\b";

/// The part of a subject up to its colon: `fix(net): ` or `net: `.
const SCOPE: &str = r"^\s*[\w./*,+ -]{1,30}(?:\([^)]*\))?!?:\s+";

/// Words of a report of a problem.
const PROBLEM: &str = r"(?i)\b(broken|bug|crash|deadlock|error|exception|fail(s|ed|ing|ure)?|hang|incorrect|infinite|instead of|leak|missing|panic|race|regress|should|traceback|unexpected|wrong)";

/// The least length of a report's body, in characters.
const BODY_MIN: usize = 120;

struct Patterns {
    routine: Regex,
    programs: Regex,
    trailer: Regex,
    template: Regex,
    comment: Regex,
    link: Regex,
    paths: Regex,
    reference: Regex,
    blank_lines: Regex,
    blanks: Regex,
    scope: Regex,
    problem: Regex,
    words: Regex,
    any_word: Regex,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| Patterns {
    routine: regex(&format!(
        r"(?i)^(?:{})|\b(?:{})\b",
        ROUTINE_STARTS.join("|"),
        ROUTINE_WORDS.join("|")
    )),
    programs: regex(PROGRAMS),
    trailer: regex(TRAILER),
    template: regex(TEMPLATE),
    comment: regex("(?s)<!--.*?-->"),
    link: regex(r"https?://\S+"),
    paths: regex(&PATHS.join("|")),
    reference: regex(REFERENCE),
    blank_lines: regex(r"\n{3,}"),
    blanks: regex(r"[ \t]+"),
    scope: regex(SCOPE),
    problem: regex(PROBLEM),
    words: regex("[A-Za-z_]{3,}"),
    any_word: regex(r"\w+"),
});

/// Returns whether a commit is about form, versions or other commits, or was written by a program.
pub(super) fn is_routine(author: &str, subject: &str) -> bool {
    PATTERNS.programs.is_match(author) || PATTERNS.routine.is_match(subject)
}

/// Returns a message as a person might ask: without paths, links, trailers, numbers of issues and
/// hashes.
pub(super) fn clean(message: &str) -> String {
    let p = &*PATTERNS;
    let message = p.comment.replace_all(message, " ");
    let is_wanted = |(number, line): &(usize, &str)| {
        *number == 0 || !(p.trailer.is_match(line.trim()) || p.template.is_match(line))
    };
    let lines = message.trim().lines().enumerate().filter(is_wanted);
    let text = lines.map(|(_, line)| line).collect::<Vec<_>>().join("\n");
    let text = p.link.replace_all(&text, " ");
    let before = |path: &Captures<'_>| {
        let group = path.get(1).or(path.get(2));
        format!("{} ", group.map_or("", |group| group.as_str()))
    };
    let text = p.paths.replace_all(&text, before);
    let text = p.reference.replace_all(&text, " ");
    let text = p.blank_lines.replace_all(&text, "\n\n");
    p.blanks.replace_all(&text, " ").trim().to_owned()
}

/// Returns a query without the names of the gold files (with and without extensions, as whole
/// words, in any case), and without the words before its subject's colon that are part of a gold
/// path.
pub(super) fn without_leaks(query: &str, gold: &[String]) -> String {
    let p = &*PATTERNS;
    let scope = p.scope.find(query.lines().next().unwrap_or_default());
    let (scope, rest) = query.split_at(scope.map_or(0, |scope| scope.end()));
    let paths: Vec<_> = gold.iter().map(|path| path.to_lowercase()).collect();
    let is_leak = |word: &str| {
        word.chars().nth(1).is_some()
            && paths.iter().any(|path| path.contains(&word.to_lowercase()))
    };
    let scope = p.any_word.replace_all(scope, |word: &Captures<'_>| {
        if is_leak(&word[0]) { String::new() } else { word[0].to_owned() }
    });
    let mut text = format!("{scope}{rest}");
    let mut names: Vec<_> = gold.iter().flat_map(|path| names(path)).collect();
    names.sort_unstable_by_key(|name| (std::cmp::Reverse(name.len()), *name));
    names.dedup();
    for name in names {
        text = without_name(&text, name);
    }
    p.blanks.replace_all(&text, " ").trim().to_owned()
}

/// Returns the names by which a text may call a file: with its extensions, without the last one,
/// and without any.
fn names(path: &str) -> impl Iterator<Item = &str> {
    let name = name(path);
    let stems = [name.split_once('.'), name.rsplit_once('.')];
    let stems = stems.into_iter().flatten().map(|(stem, _)| stem);
    std::iter::once(name).chain(stems).filter(|name| name.chars().nth(1).is_some())
}

/// Replaces a name by a space wherever no letter, digit or `_` is next to it.
fn without_name(text: &str, name: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let pattern = regex(&format!("(?i){}", regex::escape(name)));
    let (mut out, mut from, mut at) = (String::new(), 0, 0);
    while let Some(hit) = pattern.find_at(text, at) {
        let is_whole_word =
            !text[..hit.start()].ends_with(is_part) && !text[hit.end()..].starts_with(is_part);
        if is_whole_word {
            out.push_str(&text[from..hit.start()]);
            out.push(' ');
            (from, at) = (hit.end(), hit.end());
        } else {
            let first = text[hit.start()..].chars().next().map_or(1, char::len_utf8);
            at = hit.start() + first;
        }
    }
    out + &text[from..]
}

/// Returns a query without the part of its subject up to the colon.
pub(super) fn without_scope(query: &str) -> String {
    let (subject, body) = query.split_once('\n').unwrap_or((query, ""));
    let subject = PATTERNS.scope.replace(subject, "");
    format!("{subject}\n{body}").trim().to_owned()
}

/// Returns whether a query reads like a report of a problem.
pub(super) fn is_like_issue(query: &str) -> bool {
    let body = query.split_once('\n').map_or("", |(_, body)| body);
    body.chars().count() >= BODY_MIN && PATTERNS.problem.is_match(query)
}

/// Counts the words of three or more letters.
pub(super) fn words(query: &str) -> usize {
    PATTERNS.words.find_iter(query).count()
}

#[cfg(test)]
mod tests {
    use super::{clean, is_like_issue, is_routine, without_leaks, without_scope, words};

    #[test]
    fn paths_links_and_references_are_removed_from_messages() {
        let message = "net: fix `read` in src/net/tcp.rs:12:5 (#123)\n\nLook at https://x.y/z for it.\n\
                       It was added in 1a2b3c4d5e, and lib.rs, foo/bar.py use it.\n\n\
                       Fixes: #99\nSigned-off-by: A <a@b.c>\n- [x] tested\n<!-- a\nhint -->";
        let expected = "net: fix `read` in \n\nLook at for it.\nIt was added in , and , use it.";
        assert_eq!(clean(message), expected);
    }

    #[test]
    fn first_line_is_retained_even_if_it_reads_like_a_trailer() {
        assert_eq!(clean("Fix leak of the pool\n\nFix #12"), "Fix leak of the pool");
    }

    #[test]
    fn routine_commits_are_recognized_by_author_and_subject() {
        for subject in ["Bump serde", "v1.2", "docs(api): more", "Fix typo in x", "fix the CI now"]
        {
            assert!(is_routine("A", subject), "{subject}");
        }
        assert!(is_routine("renovate[bot]", "net: add a timeout"));
        for subject in ["net: add a timeout", "Add information", "fix(build): do not panic"] {
            assert!(!is_routine("A", subject), "{subject}");
        }
    }

    #[test]
    fn names_and_scopes_of_gold_files_are_removed() {
        let gold = ["src/net/tcp_stream.rs".to_owned(), "src/Render.test.ts".to_owned()];
        let check = |query: &str, expected: &str| {
            assert_eq!(without_leaks(query, &gold), expected, "{query}");
        };
        check("net(tcp): set no_delay", "(): set no_delay");
        check("time(net): wake", "time(): wake");
        check("TCP_Stream and tcp_streams, tcp_stream.rs", "and tcp_streams,");
        check("render renders `render`, Render.test", "renders ` `,");
        check("x: net in the body\nof: net", "x: net in the body\nof: net");
    }

    #[test]
    fn scope_is_the_text_up_to_the_colon() {
        assert_eq!(without_scope("fix(net): a: b\nc: d"), "a: b\nc: d");
        assert_eq!(without_scope("no colon here"), "no colon here");
    }

    #[test]
    fn reports_have_a_long_body_and_words_of_problems() {
        let body = "x".repeat(120);
        assert!(is_like_issue(&format!("it panics\n{body}")));
        assert!(!is_like_issue(&format!("it works\n{body}")));
        assert!(!is_like_issue("it panics\nalways"));
    }

    #[test]
    fn words_have_three_letters() {
        assert_eq!(words("a bc def ghi_j 123"), 2);
    }
}
