//! Other programs that turn a repository into text, with their output forms.

use std::path::{Path, PathBuf};
use std::process::Command;

use lcp_bench::programs::npm_program;

use super::repository::{File, NAME};
use super::{Entries, Row, readers};

const REPOMIX: &str = "1.18.1";
const GITINGEST: &str = "0.3.1";
const FILES_TO_PROMPT: &str = "0.6";

/// The separator lines of gitingest and repomix.
const GITINGEST_RULE: &str = "================================================";
const REPOMIX_RULE: &str = "================";

/// An output form of a program: its name, the arguments that select it, and its reader.
type Form = (&'static str, &'static [&'static str], fn(&str) -> Entries);

const REPOMIX_FORMS: &[Form] = &[
    ("xml (default)", &["--style", "xml"], |text| readers::elements(text, false)),
    ("xml, --parsable-style", &["--style", "xml", "--parsable-style"], |text| {
        readers::elements(text, true)
    }),
    ("markdown", &["--style", "markdown"], |text| readers::fences(text, "## File: ")),
    ("markdown, --parsable-style", &["--style", "markdown", "--parsable-style"], |text| {
        readers::fences(text, "## File: ")
    }),
    ("plain", &["--style", "plain"], |text| {
        readers::without(readers::rules(text, REPOMIX_RULE, "File: "), "\n")
    }),
    ("json", &["--style", "json"], readers::object),
];

const FILES_TO_PROMPT_FORMS: &[Form] = &[
    ("plain (default)", &[], readers::dashes),
    ("--cxml", &["--cxml"], readers::documents),
    ("--markdown", &["--markdown"], |text| readers::without(readers::fences(text, ""), "\n")),
];

/// Returns a row for each form. If a program cannot be installed, its rows give the reason.
pub(super) fn rows(folder: &Path, all: &[File]) -> Vec<Row> {
    let mut rows = Vec::new();
    eprintln!("npm installs repomix");
    let repomix = npm_program("repomix", REPOMIX);
    for (form, flags, read) in REPOMIX_FORMS {
        let text = repomix.clone().and_then(|program| {
            let arguments = ["--stdout", "--quiet"].iter().chain(*flags);
            printed(Command::new(program).arg(".").args(arguments).current_dir(folder))
        });
        rows.push(Row::new(&format!("repomix {REPOMIX}"), form, text.map(|text| read(&text)), all));
    }
    eprintln!("pip installs gitingest and files-to-prompt");
    let pypi = pypi();
    let text = pypi.clone().and_then(|programs| {
        let to = folder.with_file_name("digest.txt");
        let mut gitingest = Command::new(programs.join("gitingest"));
        printed(gitingest.arg(".").arg("-o").arg(&to).current_dir(folder))?;
        std::fs::read_to_string(&to).map_err(|error| error.to_string())
    });
    let read = |text: &str| readers::rules(text, GITINGEST_RULE, "FILE: ");
    let read = text.map(|text| readers::without(read(&text), "\n\n\n"));
    rows.push(Row::new(&format!("gitingest {GITINGEST}"), "text", read, all));
    for (form, flags, read) in FILES_TO_PROMPT_FORMS {
        let text = pypi.clone().and_then(|programs| {
            let mut program = Command::new(programs.join("files-to-prompt"));
            let beside = folder.parent().unwrap_or(folder);
            printed(program.arg(NAME).args(*flags).current_dir(beside))
        });
        // Paths in its output begin with the folder that it was given.
        let below = format!("{NAME}/");
        let inside = |(path, text): (String, String)| match path.strip_prefix(&below) {
            Some(inside) => (inside.to_owned(), text),
            None => (path, text),
        };
        let read = text.map(|text| read(&text).into_iter().map(inside).collect());
        rows.push(Row::new(&format!("files-to-prompt {FILES_TO_PROMPT}"), form, read, all));
    }
    rows
}

fn printed(command: &mut Command) -> Result<String, String> {
    let printed = lcp_testkit::python::output(command)?;
    Ok(String::from_utf8_lossy(&printed).into_owned())
}

/// Installs gitingest and files-to-prompt in a virtual environment, and returns the folder of their
/// programs.
fn pypi() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let venv = program.with_file_name("peers-injection").join("venv");
    let programs = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let system = if cfg!(windows) { "python" } else { "python3" };
    printed(Command::new(system).args(["-m", "venv"]).arg(&venv))?;
    let mut pip = Command::new(programs.join("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    pip.arg(format!("gitingest=={GITINGEST}")).arg(format!("files-to-prompt=={FILES_TO_PROMPT}"));
    printed(&mut pip)?;
    Ok(programs)
}
