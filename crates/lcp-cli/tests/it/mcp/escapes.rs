//! Nothing outside the roots is read.

use lcp_encoder::PackWriter;
use lcp_types::Block;
use serde_json::{Value, json};

use super::Place;
use super::client::{Client, facts_of};

/// A call by every tool that is told a path.
fn calls(path: &str) -> [(&'static str, Value); 6] {
    [
        ("pack", json!({ "paths": [path] })),
        ("pack", json!({ "paths": ["src", path] })),
        ("render", json!({ "pack": path })),
        ("expand", json!({ "pack": path, "block": 0 })),
        ("count", json!({ "paths": [path] })),
        ("record_usage", json!({ "conversation": "c", "transcript": path })),
    ]
}

#[track_caller]
fn is_refused(client: &mut Client, path: &str) {
    for (tool, arguments) in calls(path) {
        let fault = client.fault(tool, arguments);
        assert_eq!(fault["code"], "refused", "{tool} {path}: {fault}");
        assert!(!fault.to_string().contains("hunter2"));
    }
}

#[test]
fn paths_outside_the_root_are_refused() {
    let place = Place::new();
    place.write("root2/file", "hunter2");
    let mut client = place.client(&[]);
    for path in ["..", "../secret", "src/../../secret", "src/../README.md", "/etc/passwd", "/"] {
        is_refused(&mut client, path);
    }
    // Whether it is there or not; and a root's name is not merely how a path begins.
    for name in ["secret", "nothing", "root2/file", ""] {
        is_refused(&mut client, &place.text(name));
    }
}

#[cfg(unix)]
#[test]
fn links_outside_the_root_are_refused() {
    use std::os::unix::fs::symlink;

    let place = Place::new();
    symlink(place.path("secret"), place.path("root/link")).unwrap();
    symlink(place.path(""), place.path("root/folder")).unwrap();
    symlink("link", place.path("root/again")).unwrap();
    symlink("src", place.path("root/inside")).unwrap();
    let mut client = place.client(&[]);
    for path in ["link", "again", "folder", "folder/secret", "folder/root/README.md/../secret"] {
        is_refused(&mut client, path);
    }
    is_refused(&mut client, &place.text("root/link"));
    // What a walk finds is not followed either.
    let packed = client.facts("pack", json!({}));
    assert_eq!(packed["skipped_by_reason"]["link"], 4, "{packed}");
    let shown = client.facts("render", json!({ "pack": packed["pack"] }));
    assert!(!shown["text"].as_str().unwrap().contains("hunter2"));
    // A link within is what it leads to.
    assert!(client.facts("pack", json!({ "paths": ["inside"] }))["files"] == 2);
}

#[cfg(unix)]
#[test]
fn linked_ignore_file_is_not_quoted() {
    let place = Place::new();
    place.write("secret", "hunter{2\n");
    place.write("root/.ignore", "hunter{3\n");
    place.write("root/other/file", "text\n");
    std::os::unix::fs::symlink(place.path("secret"), place.path("root/other/.ignore")).unwrap();
    let packed = place.client(&[]).facts("pack", json!({}));
    assert!(!packed.to_string().contains("hunter"), "{packed}");
    assert!(packed.to_string().contains("invalid ignore file"), "{packed}");
}

#[cfg(unix)]
#[test]
fn link_swapped_in_during_a_call_is_not_followed() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let place = Place::new();
    place.write("evil/file.rs", "hunter2");
    place.write("root/here/file.rs", "inside");
    let at = |name: &str| place.path("root").join(name);
    std::os::unix::fs::symlink(place.path("evil"), at("link")).unwrap();
    let mut client = place.client(&[]);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                // The folder and the link change places.
                std::fs::rename(at("here"), at("kept")).unwrap();
                std::fs::rename(at("link"), at("here")).unwrap();
                std::fs::rename(at("here"), at("link")).unwrap();
                std::fs::rename(at("kept"), at("here")).unwrap();
            }
        });
        for _ in 0..100 {
            let counted = client.call("count", json!({ "paths": ["here/file.rs"] }));
            let facts = facts_of(&counted);
            // `inside` has 6 bytes, what is outside 7.
            assert!(facts["code"].is_string() || facts["counts"][0]["bytes"] == 6, "{facts}");
            let packed = client.call("pack", json!({ "paths": ["here"] }));
            let packed = facts_of(&packed);
            let Some(pack) = packed["pack"].as_str() else { continue };
            let shown = client.facts("render", json!({ "pack": pack }));
            assert!(!shown.to_string().contains("hunter2"));
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn tools_write_no_files_below_the_root() {
    let place = Place::new();
    let listed = || {
        let entries = std::fs::read_dir(place.path("root")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = listed();
    let mut client = place.client(&[]);
    let packed = client.facts("pack", json!({}));
    client.facts("render", json!({ "pack": packed["pack"], "report": true }));
    client.facts("record_usage", json!({ "conversation": "c", "input_tokens": 5 }));
    assert_eq!(listed(), before);
    assert!(place.path("sessions.sqlite").exists());
}

/// Which names are left out would tell what stands in it.
#[test]
fn folder_with_a_linked_ignore_file_is_skipped() {
    let place = Place::new();
    place.write("root/sub/hunter2", "text\n");
    place.write("root/sub/other", "text\n");
    std::os::unix::fs::symlink(place.path("secret"), place.path("root/sub/.ignore")).unwrap();
    let mut client = place.client(&[]);
    let packed = client.facts("pack", json!({}));
    let skipped = packed["skipped"].to_string();
    assert!(skipped.contains("sub/.ignore"), "{packed}");
    let shown = client.facts("render", json!({ "pack": packed["pack"] })).to_string();
    assert!(!shown.contains("sub/other") && !shown.contains("hunter2"), "{shown}");
}

/// What a pack keeps of each block is more than the three bytes that it has: each tool refuses
/// too many, and the server goes on.
#[test]
fn pack_with_too_many_blocks_is_refused() {
    let place = Place::new();
    let mut pack = PackWriter::default();
    for _ in 0..300_000 {
        pack.add(&Block::raw(0x42, "")).unwrap();
    }
    let bytes = pack.finish().unwrap();
    std::fs::write(place.path("root/many.lcp"), bytes).unwrap();
    let mut client = place.client(&[]);
    for (tool, arguments) in [
        ("render", json!({ "pack": "many.lcp", "budget": 100 })),
        ("expand", json!({ "pack": "many.lcp", "block": 0 })),
    ] {
        let fault = client.fault(tool, arguments);
        assert_eq!(fault["code"], "limit", "{tool}: {fault}");
        assert!(
            fault.to_string().contains("exceeds BLOCKS_MAX: got 262145, maximum 262144"),
            "{fault}"
        );
    }
    client.facts("render", json!({ "pack": "session.lcp", "budget": 100 }));
}
