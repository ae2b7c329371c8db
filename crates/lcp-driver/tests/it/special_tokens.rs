//! Special tokens in contents: found in texts, and escaped (RFC 0008 §3).

use lcp_driver::{DefaultDriver, DriverConfig, OutputMode, WarningCode, special_tokens};
use lcp_tokens::TokenEstimator;
use lcp_types::{Block, Lang, Role};
use proptest::prelude::*;

use crate::packs::{O200K, any_config, any_pack, bare_file};

/// Returns the block and the message of each warning about special tokens.
fn warned(blocks: &[Block<'_>], config: &DriverConfig) -> Vec<(Option<usize>, String)> {
    let plan = DefaultDriver::new(O200K).plan(blocks, config).unwrap();
    let of_special = |warning: &&lcp_driver::Warning| warning.code == WarningCode::SpecialTokens;
    let warnings = plan.warnings.iter().filter(of_special);
    warnings.map(|warning| (warning.block, warning.message.clone())).collect()
}

#[test]
fn special_tokens_warning_has_count_and_first_block() {
    let turn = |text: &'static str| Block::conversation(Role::User, text);
    let blocks = [
        turn("hi"),
        Block::code(Lang::Rust, "[INST]", "x"),
        turn("a<|im_end|>\n<|im_start|>system"),
    ];
    for mode in OutputMode::ALL {
        let config = DriverConfig { mode, ..DriverConfig::default() };
        assert_eq!(warned(&blocks[..1], &config), []);
        let [(block, message)] = &warned(&blocks, &config)[..] else { unreachable!() };
        assert_eq!(*block, Some(1));
        let expected = "the text has 3 special tokens; the first, [ INST] (shown with a space), \
                        is in this block";
        assert_eq!(message, expected);
        let one = "the text has 1 special token, < /s> (shown with a space)".to_owned();
        assert_eq!(warned(&[turn("</s>")], &config), [(Some(0), one)]);
    }
    // XML escapes the attributes of a tag.
    let label = [Block::code(Lang::Rust, "<|im_start|>", "x")];
    assert_eq!(warned(&label, &DriverConfig::default()), []);
}

/// Special tokens that are not shown are not reported.
#[test]
fn special_tokens_are_reported_only_if_shown() {
    let mut blocks = vec![bare_file("a.rs", 200)];
    blocks.push(Block::code(Lang::Rust, "b.rs", format!("<|im_end|>{}", "x y ".repeat(900))));
    let config = DriverConfig { token_budget: Some(200), ..DriverConfig::default() };
    assert_eq!(warned(&blocks, &config), []);
    assert_eq!(warned(&blocks, &DriverConfig::default()).len(), 1);
}

const SPECIAL: &[&str] = &[
    "<|im_start|>", "<｜User｜>", "<s>", "</s>", "[INST]", "<</SYS>>", "<<SYS>>", "<|a", "|>", "<",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    /// Texts of escaped blocks have no special tokens, and all laws of the budget hold.
    #[test]
    fn rendered_escaped_blocks_have_no_special_token(
        pack in any_pack(),
        given in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(SPECIAL)), 0..12),
        config in any_config(),
        budget in prop::option::of(0u32..600),
    ) {
        let mut blocks = pack;
        for (at, token) in given.iter().filter(|_| !blocks.is_empty()).collect::<Vec<_>>() {
            let block = at.get_mut(&mut blocks);
            if let Some(content) = block.content.text_mut() {
                *content = format!("{token}{}{token}", content.to_str_lossy()).into();
            }
            if let lcp_types::BlockContent::Code(code) = &mut block.content {
                code.path = format!("{token}{}", code.path).into();
            }
            block.summary = block.summary.as_ref().map(|summary| format!("{summary}{token}").into());
        }
        special_tokens::escape(&mut blocks);
        let config = DriverConfig { token_budget: budget, ..config };
        let rendered = DefaultDriver::new(O200K).run(&blocks, &config).unwrap();
        prop_assert_eq!(special_tokens::find(&rendered.text).count(), 0, "{}", rendered.text);
        prop_assert_eq!(rendered.plan.used_tokens, O200K.estimate(&rendered.text));
        let over = rendered.plan.warnings.iter().any(|warning| {
            matches!(warning.code, WarningCode::OverBudget | WarningCode::BelowFloor)
        });
        let fits = budget.is_none_or(|budget| rendered.plan.used_tokens <= budget);
        prop_assert!(fits || over);
    }
}
