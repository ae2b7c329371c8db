//! What reading a manifest takes of memory: no more than blocks of an input of that size may
//! (RFC 0008 §5.2). A program of its own, because its allocator counts.
#![allow(clippy::print_stdout, reason = "figures, for whoever asks for them")]

use std::alloc::System;
use std::hint::black_box;

use lcp_encoder::EncodeOptions;
use lcp_encoder::manifest::Manifest;
use lcp_testkit::hostile;
use lcp_types::limits;
use peakmem_alloc::{PeakMemAlloc, PeakMemAllocTrait};

#[global_allocator]
static ALLOCATOR: PeakMemAlloc<System> = PeakMemAlloc::new(System);

#[test]
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn manifest_reading_stays_within_memory_limits() {
    println!("{:<32} {:>10} {:>12} {:>10}", "manifest", "bytes", "peak", "per byte");
    for many in [1, 1_000, 300_000] {
        for (name, json) in hostile::manifests(many) {
            ALLOCATOR.reset_peak_memory();
            let manifest = Manifest::parse(&json, &mut |_| unreachable!("no file is named"));
            let pack = manifest.map(|manifest| manifest.to_pack(EncodeOptions::default()));
            drop(black_box(pack));
            let (peak, len) = (ALLOCATOR.get_peak_memory() as u64, json.len() as u64);
            let per_byte = peak as f64 / len as f64;
            println!("{name:<32} {len:>10} {peak:>12} {per_byte:>10.1}");
            let allowed = (64 << 10) + (limits::BLOCK_MEMORY_PER_BYTE + 2) * len;
            assert!(peak <= allowed, "{name}: {peak} bytes, {allowed} are allowed for {len}");
        }
    }
}
