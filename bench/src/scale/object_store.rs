//! A pack that lies in an object store.

use std::borrow::Cow;
use std::cell::Cell;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use lcp_decoder::{DecodeOptions, PackReader, ReadAt, RemoteObject};
use lcp_driver::{DefaultDriver, DriverConfig, PlanSource};
use lcp_testkit::SplitMix64;
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{Block, Lang};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use super::generated;
use crate::harness::{Progress, Result, float};
use crate::table::{Better, Row, Wanted};

const BLOCKS: u32 = 20_000;

/// Tokens of the text.
const BUDGET: u32 = 8_000;

/// Bytes of a block, so that all have 100 MB.
const BLOCK_BYTES: usize = 5_000;

/// What is read of an object: each range is a request.
struct Counted {
    object: RemoteObject,
    ranges: Cell<u64>,
    bytes: Cell<u64>,
}

impl ReadAt for Counted {
    fn size(&self) -> io::Result<u64> {
        self.object.size()
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Cow<'_, [u8]>>> {
        self.ranges.set(self.ranges.get() + ranges.len() as u64);
        let bytes: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        self.bytes.set(self.bytes.get() + bytes);
        self.object.read(ranges)
    }

    fn has_high_latency(&self) -> bool {
        true
    }
}

pub(super) fn rows(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    progress(format!("{BLOCKS} blocks in an object store"));
    let mut rng = SplitMix64::new(5);
    let mut block = |i: u32| {
        let mut text = String::new();
        let bytes = BLOCK_BYTES / 2 + rng.below(BLOCK_BYTES);
        while text.len() < bytes {
            text.push_str(&generated::line(&mut rng, 60));
            text.push('\n');
        }
        Block::code(Lang::Rust, format!("src/f{i}.rs"), text)
    };
    let blocks: Vec<_> = (0..BLOCKS).map(&mut block).collect();
    let pack = generated::pack(&blocks)?;
    let size = float(pack.len() as u64);
    let (store, path) = (Arc::new(InMemory::new()), Path::from("pack.lcp"));
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(store.put(&path, pack.into()))?;
    let object = RemoteObject::open(store as Arc<dyn ObjectStore>, &path)?;
    let counted = Counted { object, ranges: Cell::new(0), bytes: Cell::new(0) };
    let reader = PackReader::open(counted, DecodeOptions::default())?;
    let driver = DefaultDriver::new(Tiktoken::new(Encoding::O200kBase));
    let config = DriverConfig { token_budget: Some(BUDGET), ..DriverConfig::default() };
    let rendered = driver.render_source(&reader, &config)?;
    let PlanSource::Index { .. } = rendered.planned else {
        return Err(format!("planned by {:?}", rendered.planned).into());
    };
    let ranges = float(reader.source().ranges.get());
    let percent = float(reader.source().bytes.get()) / size * 100.0;
    let shown = float(rendered.shown as u64);
    let note = format!("{} tokens of {BUDGET}", rendered.used_tokens);
    let row = |what, unit, own, peer, other| Row::new(what, Better::Lower, unit, own, peer, other);
    Ok(vec![
        row("ranges read of a far pack", "ranges", ranges, "blocks shown", shown)
            .wants(Wanted::OwnAtMost(3.0 + shown))
            .notes(Some(note)),
        row("bytes read of it", "%", percent, "the whole pack", 100.0)
            .wants(Wanted::OwnAtMost(2.0)),
    ])
}
