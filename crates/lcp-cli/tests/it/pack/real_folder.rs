//! A folder with the files that real folders have, packed by the command, and the page of the guide
//! that shows it (`docs/packing.md`).

use std::path::Path;

use lcp_testkit::real_folder::{OFFICE, OLD, ROWS, secret_files, write};
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use lcp_types::{Block, Priority};

use super::{Folder, blocks, labels, meta_of, tree};
use crate::command::{LCP, printed, stderr};

fn folder() -> Folder {
    let folder = Folder::new(&[]);
    write(&folder.path("")).expect("git is needed");
    folder
}

/// Returns the text of the block with this label.
#[track_caller]
fn text(blocks: &[Block<'_>], label: &str) -> String {
    let block = blocks.iter().find(|block| labels(std::slice::from_ref(block)) == [label]);
    let text = block.unwrap_or_else(|| panic!("{label} is in {:?}", labels(blocks))).content.text();
    text.unwrap().as_str().unwrap().to_owned()
}

fn render(pack: &[u8], flags: &[&str]) -> String {
    printed(&LCP.run_in(Path::new("."), &[&["render", "-"], flags].concat(), pack))
}

#[test]
fn secrets_of_13_files_are_in_no_output() {
    let folder = folder();
    let flags = ["--report", "report.json", "--summarize", "outline", "-v"];
    let output = folder.run(&flags);
    let report = std::fs::read_to_string(folder.path("report.json")).unwrap();
    let outputs = [
        &String::from_utf8_lossy(&output.stdout),
        &*stderr(&output),
        &report,
        &*render(&output.stdout, &[]),
        &*render(&output.stdout, &["--verbosity", "summary"]),
    ];
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let (found, files) = (report["secrets"].as_array().unwrap(), secret_files());
    assert_eq!((files.len(), found.len()), (13, 14), "{found:?}");
    for file in files {
        assert!(found.iter().any(|secret| secret["path"] == file.path), "{}", file.path);
        for value in &file.values {
            assert!(outputs.iter().all(|output| !output.contains(value)), "{}", file.path);
        }
        // The rest of the file remains.
        let name = file.path.rsplit('/').next().unwrap();
        assert!(outputs[3].contains(name) && outputs[3].contains("[secret "), "{name}");
    }
}

#[test]
fn notebook_is_its_cells_without_the_picture() {
    let folder = folder();
    let text = text(&folder.pack(&[]), "python analysis/plot.ipynb");
    let cells = "# %% [markdown]\n# # Sales\n# The amounts by week.\n\n\
                 # %%\nimport pandas as pd\npd.read_csv('sales.csv').plot()\n# 50000 rows\n";
    assert!(text.starts_with(cells) && text.contains("# [image/png, "), "{text}");
    let file = std::fs::read_to_string(folder.path("analysis/plot.ipynb")).unwrap();
    let tokens = |text: &str| Tiktoken::new(Encoding::O200kBase).estimate(text);
    assert!(tokens(&file) > 20_000 && tokens(&text) < 100, "{} tokens", tokens(&text));
}

#[test]
fn text_in_utf_16_is_decoded() {
    let output = folder().run(&[]);
    assert_eq!(text(&blocks(&output), "plain notes/office.txt"), OFFICE);
    assert!(render(&output.stdout, &[]).contains("Grüße aus dem Büro."));
}

#[test]
fn text_in_latin_1_is_decoded() {
    let output = folder().run(&[]);
    assert_eq!(text(&blocks(&output), "plain notes/old.txt"), OLD);
    assert!(render(&output.stdout, &[]).contains("La clé est chez Hélène"));
}

#[test]
fn table_of_50_000_rows_is_shown_by_header_first_rows_and_number() {
    let output = folder().run(&["data"]);
    let text = render(&output.stdout, &["--budget", "400", "--mode", "minimal"]);
    let wanted = format!(
        "id,name,amount\n1,Bob,1.50\n2,Cyd,2.50\n3,Dan,3.50\n4,Eve,4.50\n\
                          5,Ada,5.50\n… {} more rows, {ROWS} in total\n",
        ROWS - 5
    );
    assert!(
        text.contains("[data csv data/sales.csv (summary)]\n") && text.contains(&wanted),
        "{text}"
    );
}

#[test]
fn vendored_files_of_gitattributes_are_background() {
    let blocks = folder().pack(&[]);
    assert_eq!(meta_of(&blocks, "javascript vendor/table.js").priority, Priority::Background);
    assert_eq!(meta_of(&blocks, "python src/tool.py").priority, Priority::Normal);
}

#[test]
fn dependencies_caches_and_build_output_need_no_ignore_files() {
    let folder = folder();
    let output = folder.run(&[]);
    assert!(
        stderr(&output).ends_with("3 files left out: 3 unwanted folder\n"),
        "{}",
        stderr(&output)
    );
    let unwanted = |blocks: &[Block<'_>]| {
        let names = ["node_modules/", "target/", "__pycache__/"];
        names.map(|name| tree(blocks).iter().any(|line| line.contains(name)))
    };
    assert_eq!(unwanted(&blocks(&output)), [false; 3]);
    assert_eq!(unwanted(&folder.pack(&["--no-ignore"])), [true; 3]);
}

#[test]
fn workflows_are_packed_and_environment_files_are_not() {
    let folder = folder();
    let packed = folder.pack(&[]);
    assert!(text(&packed, "yaml .github/workflows/test.yml").contains("runs-on: ubuntu-latest"));
    let has_env =
        |blocks: &[Block<'_>]| labels(blocks).iter().any(|label| label.ends_with(" .env"));
    assert!(!has_env(&packed) && has_env(&folder.pack(&["--hidden"])));
}

/// The files of `docs/packing.md` are few. These are more than `TOTAL_DECOMPRESSED_BYTES_MAX`.
#[test]
fn folder_of_more_than_256_mib_is_packed() {
    let folder = Folder::new(&[]);
    let code = "fn main() { println!(\"a line of code\"); }\n".repeat(24_000);
    folder.write("0/0.rs", &code);
    let files = (256 << 20) / code.len() + 2;
    for number in 1..files {
        let name = format!("{}/{number}.rs", number % 9);
        std::fs::create_dir_all(folder.path(&name).parent().unwrap()).unwrap();
        std::fs::hard_link(folder.path("0/0.rs"), folder.path(&name)).unwrap();
    }
    let output = folder.run(&["-o", "large.lcp", "."]);
    let said = stderr(&output);
    assert!(
        output.status.success() && said.starts_with(&format!("packed {files} files: ")),
        "{said}"
    );
    assert!(std::fs::metadata(folder.path("large.lcp")).unwrap().len() > 256 << 20);
    let _ = printed(&LCP.run_in(&folder.path(""), &["validate", "large.lcp"], &[]));
}

/// Runs the commands of the page in the folder that it shows, and compares the outputs.
/// `UPDATE_EXPECT=1 cargo test -p lcp-cli packing_page` writes them into the page.
#[cfg(unix)]
#[test]
fn packing_page_shows_real_output() {
    use std::fmt::Write as _;

    let folder = folder();
    let page = std::fs::read_to_string(lcp_testkit::cli_harness::root().join("docs/packing.md"));
    let (page, mut real, mut commands) = (page.unwrap(), String::new(), 0);
    let mut lines = page.split_inclusive('\n');
    while let Some(line) = lines.next() {
        real.push_str(line);
        if line != "```text\n" {
            continue;
        }
        let shown: Vec<_> = lines.by_ref().take_while(|line| *line != "```\n").collect();
        let mut ran = shown.iter().filter_map(|line| line.strip_prefix("$ ")).peekable();
        if ran.peek().is_none() {
            real.extend(shown.iter().copied());
        }
        for command in ran {
            let output = crate::docs::run(&folder.path(""), &format!("exec 2>&1\n{command}"));
            let output = (output.status.success(), String::from_utf8(output.stdout).unwrap());
            assert!(output.0 && !output.1.contains("\n$ "), "{command}{}", output.1);
            write!(real, "$ {command}{}", output.1).unwrap();
            commands += 1;
        }
        real.push_str("```\n");
    }
    assert!(commands >= 5, "only {commands} commands");
    expect_test::expect_file!["../../../../../docs/packing.md"].assert_eq(&real);
}
