//! Properties that are set on blocks of a pack.

use lcp_decoder::{DecodeOptions, decode};
use lcp_encoder::{Compression, EncodeOptions, Magic, encode};
use lcp_packfile::{AnnotateOptions, Error, PackScan, Properties, annotate};
use lcp_testkit::any_pack;
use lcp_types::{Annotation, Block, BlockMeta, Priority, Role, Tag};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

fn any_form() -> impl Strategy<Value = EncodeOptions> {
    let magic = select(vec![Magic::Lcp, Magic::Bcp]);
    let compression = select(vec![Compression::None, Compression::Block, Compression::Payload]);
    (magic, compression, any::<bool>()).prop_map(|(magic, compression, index)| EncodeOptions {
        magic,
        compression,
        index,
    })
}

fn any_properties() -> impl Strategy<Value = Properties> {
    let priority = option::of(select(Priority::ALL.to_vec()));
    let tags = ["category=goal", "category=own", "rank=-0.5", "rank=7", "pinned", "topic=a=b"];
    let tags = proptest::sample::subsequence(tags.map(Tag::parse).to_vec(), 0..4);
    (priority, tags).prop_map(|(priority, tags)| Properties { priority, tags })
}

/// Returns the metadata of a block after these properties are set on it.
fn with<'b>(mut meta: BlockMeta<'b>, properties: &'b Properties) -> BlockMeta<'b> {
    if let Some(priority) = properties.priority.filter(|priority| *priority != meta.priority) {
        (meta.priority, meta.annotated) = (priority, true);
    }
    for tag in &properties.tags {
        match (&*tag.key, tag.value.as_deref()) {
            (Tag::CATEGORY, Some(name)) => meta.category = Some(name.into()),
            (Tag::RANK, Some(rank)) => meta.rank = rank.parse().ok(),
            (Tag::PINNED, None) => meta.pinned = true,
            _ => {}
        }
    }
    meta
}

fn metas<'b>(blocks: &'b [Block<'_>]) -> Vec<BlockMeta<'b>> {
    BlockMeta::resolve_all(blocks, &mut |_, _| {})
}

proptest! {
    /// The blocks and their frames stay the same, and only the selected properties change.
    #[test]
    fn annotated_pack_has_the_same_blocks(
        blocks in any_pack(), form in any_form(), properties in any_properties(), mask in any::<u16>(),
    ) {
        let old = encode(&blocks, form).unwrap();
        let is_selected = |index: usize| mask >> (index % 16) & 1 == 1;
        let annotations = properties.annotations(&blocks, is_selected);
        let count = annotations.len();
        let new = annotate(&old, annotations, &AnnotateOptions::default()).unwrap();
        prop_assert_eq!(new.blocks, (blocks.len() as u64, (blocks.len() + count) as u64));

        let new = new.change.apply(&old);
        let decoded = decode(&new, DecodeOptions::default()).unwrap().blocks;
        prop_assert_eq!(&decoded[..blocks.len()], &blocks[..]);
        prop_assert!(decoded[blocks.len()..].iter().all(|block| block.as_annotation().is_some()));
        let expected = metas(&blocks).into_iter().enumerate().map(|(index, meta)| {
            let is_set = is_selected(index) && !blocks[index].content.is_metadata();
            if is_set { with(meta, &properties) } else { meta }
        });
        let expected: Vec<_> = expected.collect();
        prop_assert_eq!(&metas(&decoded)[..blocks.len()], &expected[..]);

        let scans = [&old, &new].map(|pack| PackScan::with_bytes(pack));
        prop_assert_eq!(scans[0].header.map(|of| of.flags), scans[1].header.map(|of| of.flags));
        for (before, after) in scans[0].frames.iter().zip(&scans[1].frames) {
            prop_assert_eq!(&before.bytes, &after.bytes);
        }
        // Nothing is left to set.
        prop_assert_eq!(properties.annotations(&decoded, is_selected), []);
    }

    /// In place, only the end of the pack is written.
    #[test]
    fn annotation_in_place_writes_only_the_end(blocks in any_pack(), properties in any_properties()) {
        let old = encode(&blocks, EncodeOptions::default()).unwrap();
        let options = AnnotateOptions { in_place: true, ..AnnotateOptions::default() };
        let annotations = properties.annotations(&blocks, |_| true);
        let all: Vec<_> =
            blocks.into_iter().chain(annotations.iter().cloned().map(Block::new)).collect();
        let new = annotate(&old, annotations, &options).unwrap();
        prop_assert_eq!(new.change.apply(&old), encode(&all, EncodeOptions::default()).unwrap());
    }
}

#[test]
fn packs_that_cannot_change_in_place_are_rejected() {
    let blocks = [Block::conversation(Role::User, "hi")];
    let annotation = || [Annotation::priority(0, Priority::High)];
    let in_place = AnnotateOptions { in_place: true, ..AnnotateOptions::default() };
    for form in [
        EncodeOptions { magic: Magic::Bcp, ..EncodeOptions::default() },
        EncodeOptions { compression: Compression::Payload, ..EncodeOptions::default() },
    ] {
        let pack = encode(&blocks, form).unwrap();
        let error = annotate(&pack, annotation(), &in_place).unwrap_err();
        assert!(matches!(error, Error::NotAppendable(_)), "{error}");
        assert!(annotate(&pack, annotation(), &AnnotateOptions::default()).is_ok());
    }
    let mut damaged = encode(&blocks, EncodeOptions::default()).unwrap();
    damaged[13] ^= 1;
    for options in [in_place, AnnotateOptions::default()] {
        let error = annotate(&damaged, annotation(), &options).unwrap_err();
        assert!(matches!(error, Error::Damaged(_)), "{error}");
    }
}
