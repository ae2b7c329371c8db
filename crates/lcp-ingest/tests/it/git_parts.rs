//! Files and folders that git stores elsewhere: Git LFS and submodules.

use std::path::Path;

use lcp_ingest::{FileType, Globs, IngestOptions, IngestResult, Pattern, SkipReason, ingest};
use lcp_types::{BlockContent, FileEntry, FormatHint};

const POINTER: &str = "version https://git-lfs.github.com/spec/v1\n\
    oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345678\n";

fn pack(folder: &Path, images: bool) -> IngestResult {
    let paths = vec![folder.to_owned()];
    ingest(&IngestOptions { paths, images, ..IngestOptions::default() }).unwrap()
}

#[test]
fn lfs_pointer_becomes_a_placeholder_with_the_size() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["model.bin", "table.csv", "a.ipynb", "picture.png"] {
        std::fs::write(folder.path().join(name), POINTER).unwrap();
    }
    for (images, count) in [(false, 3), (true, 4)] {
        let result = pack(folder.path(), images);
        let documents: Vec<_> = (result.blocks.iter())
            .filter_map(|block| match &block.content {
                BlockContent::Document(document) => document.content.as_str(),
                _ => None,
            })
            .collect();
        assert_eq!(documents, vec!["[Git LFS file, 12345678 bytes]\n"; count]);
        let tags = result.blocks.iter().filter_map(|block| block.as_annotation()?.as_tag());
        let converted = tags.filter(|tag| tag.to_string() == "converted=git-lfs");
        assert_eq!(converted.count(), count);
        let file = &result.report.files[0];
        assert_eq!(
            (file.file_type, file.is_notebook),
            (FileType::Document(FormatHint::Plain), false)
        );
        assert_eq!(result.report.warnings, [""; 0]);
    }
}

fn tree(result: &IngestResult) -> &[FileEntry<'static>] {
    let BlockContent::FileTree(tree) = &result.blocks[0].content else { panic!() };
    &tree.entries
}

#[test]
fn submodules_that_are_not_checked_out_are_in_the_tree() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in [".git", "vendor/empty", "vendor/full"] {
        std::fs::create_dir_all(at(name)).unwrap();
    }
    let modules = ["vendor/empty", "vendor/full", "vendor/gone", "../outside"]
        .map(|path| format!("[submodule \"{path}\"]\n\tpath = {path}\n\turl = x\n"));
    std::fs::write(at(".gitmodules"), modules.concat()).unwrap();
    std::fs::write(at("vendor/full/a.rs"), "fn a() {}\n").unwrap();
    let result = pack(folder.path(), false);
    let missing = |result: &IngestResult| -> Vec<String> {
        let missing = result.report.skipped_by(SkipReason::Submodule);
        missing.map(|skipped| skipped.path.clone()).collect()
    };
    assert_eq!(missing(&result), ["vendor/empty/", "vendor/gone/"]);
    let vendor = tree(&result).iter().find(|entry| entry.name == "vendor").unwrap();
    let names: Vec<_> = vendor.children.iter().map(|entry| entry.name.as_ref()).collect();
    assert_eq!(names, ["empty", "full", "gone"]);
    // A path below the top of the repository.
    let result = pack(&at("vendor"), false);
    assert_eq!(missing(&result), ["empty/", "gone/"]);
    let exclude = Globs::new([&Pattern::parse("vendor/empty").unwrap()]).unwrap();
    let paths = vec![folder.path().to_owned()];
    let result = ingest(&IngestOptions { paths, exclude, ..IngestOptions::default() }).unwrap();
    assert_eq!(missing(&result), ["vendor/gone/"]);
}
