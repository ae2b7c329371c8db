//! A folder with the files that real folders have besides source code: secrets, a notebook, texts
//! in old character sets, data, dependencies and build output.

use std::io;
use std::path::Path;
use std::process::Command;

use crate::SplitMix64;

/// The number of rows of `data/sales.csv`, besides the header.
pub const ROWS: usize = 50_000;

/// The number of Base64 characters of `web/style.css`, in one line.
pub const BASE64_CHARS: usize = 60_000;

const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const ALPHANUMERIC: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A file with a secret.
#[derive(Clone, Debug)]
pub struct SecretFile {
    /// The path in the folder.
    pub path: &'static str,
    /// The text of the file.
    pub text: String,
    /// The parts of the text that nobody may see: a token, or a line of a key.
    pub values: Vec<String>,
}

/// Writes the folder, a git repository with two commits. The second one moves `src/reader.rs` to
/// `src/parser.rs`. The folder has no ignore files. Needs `git`.
///
/// # Errors
///
/// Fails if a file cannot be written, or `git` cannot be run.
pub fn write(folder: &Path) -> io::Result<()> {
    for (path, bytes) in files() {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a file has a folder"))?;
        std::fs::write(path, bytes)?;
    }
    git(folder, &["init", "-q"])?;
    git(folder, &["add", "-A", "-f"])?;
    git(folder, &["commit", "-q", "-m", "Start"])?;
    git(folder, &["mv", "src/reader.rs", "src/parser.rs"])?;
    let moved = PARSER.replace("reads", "parses");
    std::fs::write(folder.join("src/parser.rs"), moved)?;
    git(folder, &["commit", "-q", "-a", "-m", "Rename the reader"])
}

/// Returns 13 files with fake secrets of the shapes that their providers document. They are
/// generated, so that no scanner reports this source.
#[must_use]
pub fn secret_files() -> Vec<SecretFile> {
    let rng = &mut SplitMix64::new(30);
    let mut random = |alphabet: &[u8], len: usize| -> String {
        (0..len).map(|_| char::from(rng.choose(alphabet))).collect()
    };
    let mut files = Vec::new();
    let mut add = |path, text: String, values: Vec<String>| {
        files.push(SecretFile { path, text, values });
    };

    // Keys of RSA with 2,048 bits begin like this.
    let first = format!("MIIEowIBAAKCAQEA{}", random(BASE64, 48));
    let key: Vec<_> = std::iter::once(first).chain((0..24).map(|_| random(BASE64, 64))).collect();
    let (begin, end) =
        ["BEGIN", "END"].map(|word| format!("-----{word} RSA PRIVATE KEY-----")).into();
    add("keys/deploy.pem", format!("{begin}\n{}\n{end}\n", key.join("\n")), key);
    let (id, secret) = (format!("AKIA{}", random(UPPER, 16)), random(ALPHANUMERIC, 40));
    let text = format!("[default]\naws_access_key_id = {id}\naws_secret_access_key = {secret}\n");
    add("keys/aws.ini", text, vec![id, secret]);
    let (name, password) = ("keys/database.toml", random(ALPHANUMERIC, 20));
    let text = format!("url = \"postgres://api:{password}@db.example.com:5432/app\"\n");
    add(name, text, vec![password]);
    let token = format!(
        "{}.{}.{}",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
        "eyJzdWIiOiIzMTQxNTkyNjUiLCJuYW1lIjoiQWRhIn0",
        random(ALPHANUMERIC, 43)
    );
    add("keys/session.txt", format!("Authorization: Bearer {token}\n"), vec![token]);

    let mut one = |path, before: &str, value: String, after: &str| {
        add(path, format!("{before}{value}{after}\n"), vec![value]);
    };
    let azure = format!("{}==", random(BASE64, 86));
    one("keys/azure.txt", "AccountName=app;AccountKey=", azure, ";EndpointSuffix=core.windows.net");
    let github = format!("ghp_{}", random(ALPHANUMERIC, 36));
    one("keys/github.sh", "export GITHUB_TOKEN=", github, "");
    let gitlab = format!("glpat-{}", random(ALPHANUMERIC, 20));
    one("keys/gitlab.yml", "token: ", gitlab, "");
    let gcp = format!("AIza{}", random(ALPHANUMERIC, 35));
    one("keys/maps.json", "{\"key\": \"", gcp, "\"}");
    let anthropic = format!("sk-ant-api03-{}AA", random(ALPHANUMERIC, 93));
    one("keys/claude.py", "KEY = '", anthropic, "'");
    let openai =
        format!("sk-proj-{}T3BlbkFJ{}", random(ALPHANUMERIC, 74), random(ALPHANUMERIC, 74));
    one("keys/gpt.py", "KEY = '", openai, "'");
    one("keys/models.py", "KEY = '", format!("hf_{}", random(LETTERS, 34)), "'");
    one("keys/pay.rb", "key = '", format!("sk_live_{}", random(ALPHANUMERIC, 24)), "'");
    let slack =
        format!("xoxb-{}-{}-{}", 210_987_654_321_u64, 987_654_321_012_u64, random(LOWER, 24));
    one("keys/chat.js", "const token = '", slack, "'");
    files
}

/// Returns all files of the first commit.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let mut files: Vec<(&str, Vec<u8>)> =
        TEXTS.iter().map(|(path, text)| (*path, (*text).into())).collect();
    files.extend(secret_files().into_iter().map(|file| (file.path, file.text.into_bytes())));
    let rng = &mut SplitMix64::new(1);
    let mut base64 =
        |len: usize| -> String { (0..len).map(|_| char::from(rng.choose(BASE64))).collect() };
    let style = format!(
        "h1 {{ color: teal; }}\n.logo {{ background: url(data:image/png;base64,{}); }}\n",
        base64(BASE64_CHARS)
    );
    files.push(("web/style.css", style.into_bytes()));
    files.push(("analysis/plot.ipynb", notebook(&base64(40_000)).into_bytes()));
    let names = ["Ada", "Bob", "Cyd", "Dan", "Eve"];
    let rows = (1..=ROWS).map(|id| format!("{id},{},{}.50\n", names[id % 5], id % 7));
    files.push(("data/sales.csv", format!("id,name,amount\n{}", rows.collect::<String>()).into()));
    let events = (1..=500).map(|id| format!("{{\"id\": {id}, \"event\": \"login\"}}\n"));
    files.push(("data/events.jsonl", events.collect::<String>().into_bytes()));
    let utf16 = OFFICE.encode_utf16().flat_map(u16::to_le_bytes);
    files.push(("notes/office.txt", [0xff, 0xfe].into_iter().chain(utf16).collect()));
    let latin1 = OLD.chars().map(|char| u8::try_from(u32::from(char)).expect("Latin-1"));
    files.push(("notes/old.txt", latin1.collect()));
    let compiled = [&b"\xcb\x0d\x0d\x0a\0\0\0\0"[..], &rng.bytes(200)].concat();
    files.push(("src/__pycache__/tool.cpython-312.pyc", compiled));
    files
}

/// Returns a notebook with two cells, a text and a plot.
fn notebook(plot: &str) -> String {
    let notebook = serde_json::json!({
        "cells": [
            {
                "cell_type": "markdown", "metadata": {},
                "source": ["# Sales\n", "The amounts by week."],
            },
            {
                "cell_type": "code", "execution_count": 1, "metadata": {},
                "source": ["import pandas as pd\n", "pd.read_csv('sales.csv').plot()"],
                "outputs": [
                    { "output_type": "stream", "name": "stdout", "text": ["50000 rows\n"] },
                    {
                        "output_type": "display_data", "metadata": {},
                        "data": { "image/png": plot, "text/plain": ["<Figure size 640x480>"] },
                    },
                ],
            },
        ],
        "metadata": {
            "kernelspec": { "display_name": "Python 3", "language": "python", "name": "python3" },
        },
        "nbformat": 4, "nbformat_minor": 5,
    });
    serde_json::to_string_pretty(&notebook).expect("JSON")
}

fn git(folder: &Path, arguments: &[&str]) -> io::Result<()> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .envs([("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@example.org")])
        .envs([("GIT_COMMITTER_NAME", "Ada"), ("GIT_COMMITTER_EMAIL", "ada@example.org")])
        .output()?;
    let message = String::from_utf8_lossy(&output.stderr);
    output.status.success().then_some(()).ok_or_else(|| io::Error::other(message.into_owned()))
}

const PARSER: &str = "\
/// Reads a row.
pub fn row(line: &str) -> Vec<&str> {
    line.split(',').collect()
}

/// Returns whether it reads this line as a comment.
pub fn is_comment(line: &str) -> bool {
    line.starts_with('#')
}
";

/// The text of `notes/office.txt`, which is in UTF-16.
pub const OFFICE: &str = "\
Grüße aus dem Büro.
Die Zahlen für März fehlen noch; Jörg schickt sie heute.
";

/// The text of `notes/old.txt`, which is in Latin-1.
pub const OLD: &str = "\
Le café est fermé jusqu'à lundi. La clé est chez Hélène, au deuxième étage.
Les données de février ont été vérifiées : il manque trois réponses.
À bientôt, et bon courage à tous.
";

const TEXTS: &[(&str, &str)] = &[
    (".env", "MODE=production\n"),
    (".gitattributes", "vendor/** linguist-vendored\n*.safetensors filter=lfs\n"),
    (".github/workflows/test.yml", "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n"),
    ("Cargo.toml", "[package]\nname = \"sales\"\nedition = \"2024\"\n"),
    ("README.md", "# Sales\n\nAn analysis of sales.\n"),
    (
        "models/weights.safetensors",
        "version https://git-lfs.github.com/spec/v1\n\
         oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n\
         size 548105171\n",
    ),
    ("node_modules/left-pad/index.js", "module.exports = (text, n) => text.padStart(n)\n"),
    (
        "src/main.rs",
        "mod parser;\n\nfn main() {\n    println!(\"{:?}\", parser::row(\"1,2\"));\n}\n",
    ),
    ("src/reader.rs", PARSER),
    ("src/tool.py", "print('tool')\n"),
    ("target/debug/sales.d", "target/debug/sales: src/main.rs src/parser.rs\n"),
    ("vendor/table.js", "function table(rows) {\n  return rows.map((row) => row.join('|'))\n}\n"),
];
