//! Source files of less than 40 lines, each with the reason (RFC 0011 §2).

pub(super) const SHORT_FILES: &[(&str, &str)] = &[
    ("bench/src/dedup.rs", "a list of modules"),
    ("bench/src/format/peers.rs", "the list of peers"),
    ("crates/lcp-app/src/folders.rs", "the folders of a user, on every system"),
    ("crates/lcp-cli/src/commands/completions.rs", "a command"),
    ("crates/lcp-cli/src/commands/decode.rs", "a command"),
    ("crates/lcp-cli/src/costs.rs", "shared by three commands"),
    ("crates/lcp-driver/src/fmt.rs", "below all other files"),
    ("crates/lcp-packfile/src/handoff_index.rs", "shared by merge and recover"),
];
