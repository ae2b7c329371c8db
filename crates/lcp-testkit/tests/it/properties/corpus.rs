//! The corpus and the seeds, through the targets; and what keeps programs, dictionaries and
//! folders in step with the table of targets.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use lcp_testkit::properties::{TARGETS, Target, corpus, seeds};
use lcp_testkit::{SplitMix64, cli_harness};

/// Names and inputs of a folder.
fn inputs(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths.iter().map(|path| (path.display().to_string(), fs::read(path).unwrap())).collect()
}

#[track_caller]
fn holds(target: &Target, name: &str, input: &[u8]) {
    let ran = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    assert!(ran.is_ok(), "{} does not hold for {name}", target.name);
}

#[test]
fn every_target_passes_on_its_corpus() {
    for target in TARGETS {
        let inputs = inputs(&corpus().join(target.name));
        assert!(!inputs.is_empty(), "{} has a corpus", target.name);
        for (name, input) in inputs {
            holds(target, &name, &input);
        }
    }
}

#[test]
fn every_target_passes_on_its_seeds() {
    for target in TARGETS {
        for (at, seed) in seeds(target.name).iter().enumerate() {
            holds(target, &format!("seed {at}"), seed);
        }
    }
}

#[test]
fn every_target_passes_on_empty_and_random_input() {
    for target in TARGETS {
        let mut rng = SplitMix64::new(1);
        for len in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 500] {
            let noise = rng.bytes(len);
            holds(target, &format!("{len} bytes of noise"), &noise);
        }
    }
}

#[test]
fn every_fuzz_target_has_program_dictionary_and_corpus() {
    let fuzz = cli_harness::root().join("fuzz");
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    let mut programs = Vec::new();
    for target in TARGETS {
        let name = target.name;
        assert!(
            manifest.contains(&format!("\nname = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\n"))
        );
        let source = fs::read_to_string(fuzz.join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(source.contains(&format!("lcp_testkit::properties::{name}(data)")), "{name}");
        assert!(fuzz.join(format!("dictionaries/{}.dict", target.dictionary)).is_file(), "{name}");
        programs.push(name);
    }
    assert_eq!(manifest.matches("[[bin]]").count(), programs.len());
    let mut folders: Vec<_> = fs::read_dir(corpus())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort();
    programs.sort_unstable();
    assert_eq!(folders, programs);
}
