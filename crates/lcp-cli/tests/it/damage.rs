//! Damaged samples give a clean error or a clean result, never a panic. Samples of up to 8 kB are cut
//! at each byte, and each of their bits is flipped. Larger samples are damaged at random places.

use lcp_decoder::{DecodeOptions, PackIndex, decode};
use lcp_driver::{DefaultDriver, DriverConfig, OutputMode};
use lcp_testkit::SplitMix64;

/// The maximum size in bytes of a sample that is damaged everywhere.
const SMALL_BYTES_MAX: usize = 8_000;
/// The number of places at which a larger sample is damaged.
const CHOICE: u64 = 1_500;

fn samples() -> Vec<(String, Vec<u8>)> {
    let root = lcp_testkit::cli_harness::root();
    let mut samples = Vec::new();
    for entry in std::fs::read_dir(root.join("samples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "lcp") {
            samples.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    samples.sort();
    assert!(samples.len() >= 8);
    samples
}

/// Decodes, and says whether it could; errors name a byte of the input or the
/// end of it.
fn decodes(pack: &[u8]) -> bool {
    match decode(pack, DecodeOptions::default()) {
        Ok(_) => true,
        Err(error) => {
            let compressed = pack.get(6).is_some_and(|flags| flags & 1 != 0);
            assert!(compressed || error.offset() <= pack.len() as u64, "{error}");
            false
        }
    }
}

/// Decodes and renders within a small budget.
fn renders(pack: &[u8], mode: OutputMode) {
    if let Ok(pack) = decode(pack, DecodeOptions::default()) {
        let config = DriverConfig { mode, token_budget: Some(120), ..DriverConfig::default() };
        let rendered = DefaultDriver::default().run(&pack.blocks, &config).unwrap();
        let blocks: u32 = rendered.plan.items.iter().map(|item| item.tokens).sum();
        assert_eq!(blocks + rendered.plan.overhead_tokens, rendered.plan.used_tokens);
    }
}

#[test]
fn truncation_before_the_index_fails_to_decode() {
    for (name, pack) in samples() {
        let lengths: Vec<_> = if pack.len() <= SMALL_BYTES_MAX {
            (0..pack.len()).collect()
        } else {
            choice(pack.len()).collect()
        };
        // No block needs what stands behind END.
        let index = PackIndex::find(&pack).transpose().unwrap();
        let end = index.map_or(pack.len() as u64, |index| index.footer().index_offset);
        for length in lengths {
            let cut = &pack[..length];
            assert_eq!(decodes(cut), length as u64 >= end, "{name}, {length} bytes");
            assert!(!matches!(PackIndex::find(cut), Some(Ok(_))), "{name}, {length} bytes");
        }
    }
}

#[test]
fn changed_bit_in_a_small_sample_never_panics() {
    for_each_byte_of_small_samples(|pack, at| {
        let original = pack[at];
        for bit in 0..8 {
            pack[at] = original ^ 1 << bit;
            decodes(pack);
        }
        for (i, value) in [original ^ 0x01, original ^ 0x80, !original].into_iter().enumerate() {
            pack[at] = value;
            renders(pack, OutputMode::ALL[i]);
        }
    });
}

#[test]
#[ignore = "decodes samples more than five million times"]
fn changed_byte_in_a_small_sample_never_panics() {
    for_each_byte_of_small_samples(|pack, at| {
        for value in 0..=u8::MAX {
            pack[at] = value;
            decodes(pack);
        }
    });
}

/// Calls `change` with each small sample and each position in it, and undoes the change.
fn for_each_byte_of_small_samples(change: impl Fn(&mut [u8], usize)) {
    for (_, mut pack) in samples().into_iter().filter(|(_, pack)| pack.len() <= SMALL_BYTES_MAX) {
        for at in 0..pack.len() {
            let original = pack[at];
            change(&mut pack, at);
            pack[at] = original;
        }
    }
}

#[test]
fn changed_byte_in_a_large_sample_never_panics() {
    for (_, mut pack) in samples().into_iter().filter(|(_, pack)| pack.len() > SMALL_BYTES_MAX) {
        for (i, at) in choice(pack.len()).enumerate() {
            let original = pack[at];
            pack[at] = original.wrapping_add(1 + u8::try_from(i % 255).unwrap());
            decodes(&pack);
            if i % 50 == 0 {
                renders(&pack, OutputMode::ALL[i % 3]);
            }
            pack[at] = original;
        }
    }
}

/// Seeded positions below `len`.
fn choice(len: usize) -> impl Iterator<Item = usize> {
    let mut random = SplitMix64::new(7);
    (0..CHOICE).map(move |_| random.below(len))
}
