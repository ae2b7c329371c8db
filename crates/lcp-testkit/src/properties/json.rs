//! Text inputs: manifests, transcripts, diffs and numbered lines.

#[path = "../../../lcp-transcripts/tests/it/valid.rs"]
#[allow(clippy::pedantic, dead_code, reason = "a module of tests, of which less is needed here")]
mod valid;

use lcp_decoder::{DecodeOptions, decode};
use lcp_encoder::EncodeOptions;
use lcp_encoder::manifest::{Manifest, to_json};
use lcp_transcripts::{
    ExportBlock, Format, Options, Provider, detect, export, import as import_as,
};

/// Checks that a valid manifest can be written and parses to the same pack.
pub fn manifest(data: &[u8]) {
    let Ok(manifest) = Manifest::parse(data, &mut |name| Ok(name.as_bytes().to_vec())) else {
        return;
    };
    let options = EncodeOptions::default();
    let Ok(bytes) = manifest.to_pack(options) else { return };
    let pack = decode(&bytes, DecodeOptions::default()).expect("as written");
    let json = to_json(&pack.blocks);
    let mut load = |name: &str| panic!("{name}: a manifest that is written names no files");
    let again = Manifest::parse(json.as_bytes(), &mut load).expect("as written");
    assert_eq!(again.to_pack(options).as_ref(), Ok(&bytes), "{json}");
}

/// Checks that a transcript becomes blocks that can be encoded, and messages that providers accept.
/// Diffs and numbered lines that are parsed exactly must be written byte for byte.
pub fn import(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let choice = usize::from(choice & 15);
    if let Some(format) = Format::ALL.get(choice) {
        transcript(*format, bytes, choice);
    } else if let Some(format) = detect(bytes) {
        transcript(format, bytes, choice);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(diff) = lcp_transcripts::diff::parse_exact(text) {
        assert_eq!(lcp_transcripts::diff::write(&diff), text);
    }
    if let Ok(patch) = lcp_transcripts::diff::parse(text) {
        for diff in &patch.diffs {
            let written = lcp_transcripts::diff::write(diff);
            let again = lcp_transcripts::diff::parse(&written).expect("as written");
            assert_eq!(again.diffs.len(), 1, "{written}");
        }
    }
    if let Some(numbered) = lcp_transcripts::line_numbers::parse_exact(text) {
        let again =
            lcp_transcripts::line_numbers::write(&numbered.content, numbered.first, numbered.style);
        assert_eq!(again, text);
    }
}

fn transcript(format: Format, bytes: &[u8], choice: usize) {
    let mut options = Options::default();
    options.sidechains = choice % 2 == 1;
    let Ok(imported) = import_as(format, bytes, &options) else { return };
    let pack = lcp_encoder::encode(&imported.blocks, EncodeOptions::default())
        .expect("an import is within the limits");
    let pack = decode(&pack, DecodeOptions::default()).expect("as written");
    assert_eq!(pack.blocks, imported.blocks);
    let blocks: Vec<_> = imported.blocks.iter().map(ExportBlock::new).collect();
    for target in Provider::ALL {
        let exported = export(target, &blocks, None);
        if let Err(wrong) = valid::valid(target, &exported) {
            panic!("{wrong}\n{}", exported.json());
        }
    }
}
