//! Streams of tokio: slow ones, and those that nobody waits for to the end.

use std::io::Read;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use lcp_decoder::{AsyncStreamDecoder, DecodeOptions, Event, StreamError};
use lcp_encoder::{EncodeOptions, PackWriter};
use lcp_testkit::any_pack;
use lcp_types::{Block, Lang, MemoryContentStore, Role};
use proptest::prelude::*;
use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};

use super::{Expected, Pieces};
use crate::laws::{COMPRESSIONS, encode};
use crate::walk::{Cuts, decode_at_once};

/// A runtime whose clock jumps to the next timer when nobody has work.
fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().expect("it starts")
}

/// [`Pieces`], ready at every other time.
struct Slow<'p>(Pieces<'p>, bool);

impl AsyncRead for Slow<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        self.1 = !self.1;
        if self.1 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let count = self.0.read(space.initialize_unfilled())?;
        space.advance(count);
        Poll::Ready(Ok(()))
    }
}

async fn assert_same(pack: &[u8], options: DecodeOptions<'static>, cuts: Cuts) {
    let seen = decode_at_once(pack, options);
    let expected = Expected::new(&seen);
    let mut stream = AsyncStreamDecoder::new(Slow(Pieces::new(pack, cuts), false), options);
    for block in expected.blocks {
        let found = stream.next_block().await.expect("not the first error yet");
        assert_eq!(found.as_ref(), Some(block));
    }
    match (stream.next_block().await, expected.error) {
        (Ok(None), None) => {}
        (Err(StreamError::Decode(found)), Some(error)) => assert_eq!(found, *error),
        (found, expected) => panic!("{found:?}, not {expected:?}"),
    }
    let mut blocks = lcp_decoder::blocks(pack, options);
    while blocks.next().is_some() {}
    assert_eq!((stream.header(), stream.warnings()), (blocks.header(), blocks.warnings()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn async_stream_matches_decode_on_any_pack(blocks in any_pack(), seed in any::<u64>()) {
        let runtime = runtime();
        for compression in COMPRESSIONS {
            let pack = encode(&blocks, compression);
            let cut = &pack[..pack.len() - 1];
            for cuts in [Cuts::Every(7), Cuts::Seeded(seed)] {
                runtime.block_on(assert_same(&pack, DecodeOptions::default(), cuts));
                runtime.block_on(assert_same(cut, DecodeOptions::default(), cuts));
            }
        }
    }
}

fn sample() -> Vec<Block<'static>> {
    vec![
        Block::conversation(Role::User, "hi"),
        Block::code(Lang::Rust, "a.rs", "fn a() {}\n".repeat(3000)),
        Block::conversation(Role::Assistant, "ho"),
    ]
}

/// Asks again and again, each time for a tenth of what a piece takes: nothing is lost,
/// and blocks come before the end of the stream does.
#[test]
fn cancelled_async_reads_lose_no_data() {
    let blocks = sample();
    for compression in COMPRESSIONS {
        let pack = encode(&blocks, compression);
        let pieces = pack.chunks(70).map(<[u8]>::to_vec).collect::<Vec<_>>();
        let count = pieces.len();
        let (found, dropped) = runtime().block_on(async {
            let (mut writer, reader) = tokio::io::duplex(64);
            tokio::spawn(async move {
                for piece in pieces {
                    sleep(Duration::from_millis(100)).await;
                    writer.write_all(&piece).await.expect("somebody reads");
                }
            });
            let mut stream = AsyncStreamDecoder::new(reader, DecodeOptions::default());
            let (mut found, mut dropped) = (Vec::new(), 0);
            loop {
                match timeout(Duration::from_millis(10), stream.next_block()).await {
                    Ok(Ok(Some(block))) => found.push(block),
                    Ok(Ok(None)) => return (found, dropped),
                    Ok(Err(error)) => panic!("{error}"),
                    Err(_) => dropped += 1,
                }
            }
        });
        assert_eq!(found, blocks);
        assert!(dropped >= 9 * count, "{dropped} futures were dropped, of {count} pieces");
    }
}

/// A task of its own, on any thread, with a store of its own.
#[test]
fn async_stream_can_be_spawned_with_a_store() {
    let mut store = MemoryContentStore::default();
    let mut pack = PackWriter::new(EncodeOptions::default());
    for block in sample() {
        pack.add_reference(&block, &mut store).expect("within the limits");
    }
    let pack = pack.finish().expect("within the limits");
    let read = |store: Option<MemoryContentStore>| {
        let mut stream = AsyncStreamDecoder::new(std::io::Cursor::new(pack.clone()), options());
        if let Some(store) = store {
            stream = stream.with_store(store);
        }
        async move {
            let mut blocks = Vec::new();
            while let Some(event) = stream.next_event().await? {
                if let Event::Frame(frame) = event {
                    blocks.push(stream.decode(frame)?);
                }
            }
            Ok::<_, StreamError>(blocks)
        }
    };
    let runtime = runtime();
    let found = runtime.block_on(async { tokio::spawn(read(Some(store))).await });
    assert_eq!(found.expect("no panic").expect("as written"), sample());
    let error = runtime.block_on(read(None)).expect_err("no store");
    assert_eq!(
        (error.to_string(), error.offset()),
        (
            "cannot resolve a content reference without a content store (block 0, byte 11)".into(),
            11,
        )
    );
}

fn options() -> DecodeOptions<'static> {
    DecodeOptions::default()
}
