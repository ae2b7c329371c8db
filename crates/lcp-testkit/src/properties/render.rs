//! Planning, rendering, parsing and token counts of texts.

use std::borrow::Cow;

use lcp_driver::budget::TokenEstimator;
use lcp_driver::parse::{PartKind, parse as parse_parts, parse_blocks};
use lcp_driver::shares::Shares;
use lcp_driver::{
    DefaultDriver, DriverConfig, Excerpts, Objective, OutputMode, Plan, RenderDecision, ValueModel,
    Verbosity, content_text, special_tokens,
};
use lcp_tokens::{
    Encoding, HeuristicEstimator, IncrementalCounter, Tiktoken, is_additive_boundary,
};
use lcp_types::{Block, Priority};

use super::input::Input;

const O200K: Tiktoken = Tiktoken::new(Encoding::O200kBase);

/// The maximum number of tokens of a roll-up line.
const ROLL_UP_TOKENS: u32 = 30;

fn config(input: &mut Input<'_>) -> DriverConfig {
    DriverConfig {
        mode: input.one_of(&OutputMode::ALL),
        token_budget: Some(0),
        verbosity: if input.byte() > 250 { Verbosity::Summary } else { Verbosity::Adaptive },
        fill: input.flag(),
        excerpts: input.one_of(&[Excerpts::WithFill, Excerpts::On, Excerpts::Off]),
        objective: if input.byte() > 200 {
            Objective::Value(ValueModel::default())
        } else {
            Objective::Strict
        },
        shares: match input.byte() {
            0..200 => None,
            200..230 => Some(Shares::agent()),
            _ => Some(Shares::conversation()),
        },
        ..DriverConfig::default()
    }
}

/// Checks the budget properties (RFC 0002 §5) that a single text can violate: exact, bounded,
/// complete, deterministic, and monotone in the tokens. Also checks that the text splits into its
/// blocks. The properties that compare steps of the allocation are tests of lcp-driver.
pub fn render(data: &[u8]) {
    let mut input = Input::new(data);
    let config = config(&mut input);
    let budget = u32::try_from(input.below(4_000)).expect("small");
    let (exact, neutral) = (input.byte() < 200, input.byte() > 220);
    let mut blocks = input.blocks();
    if neutral {
        special_tokens::escape(&mut blocks);
        let text =
            DefaultDriver::new(HeuristicEstimator).run(&blocks, &config).expect("any blocks").text;
        assert_eq!(special_tokens::find(&text).next(), None, "{text}");
        assert_eq!(special_tokens::escape(&mut blocks).count, 0);
    }
    if exact {
        check_properties(&DefaultDriver::new(O200K), &O200K, &blocks, &config, budget);
    } else {
        let counter = HeuristicEstimator;
        check_properties(&DefaultDriver::new(counter), &counter, &blocks, &config, budget);
    }
}

fn check_properties(
    driver: &DefaultDriver,
    counter: &impl TokenEstimator,
    blocks: &[Block<'_>],
    config: &DriverConfig,
    budget: u32,
) {
    let at = |token_budget| DriverConfig { token_budget: Some(token_budget), ..config.clone() };
    let run = |config: &DriverConfig| driver.run(blocks, config).expect("any blocks");
    let config = at(budget);
    let rendered = run(&config);
    let (plan, text) = (&rendered.plan, &rendered.text);
    assert_eq!(plan.used_tokens, counter.estimate(text), "{text}");
    let shown: u32 = plan.items.iter().map(|item| item.tokens).sum();
    assert_eq!(shown + plan.overhead_tokens, plan.used_tokens);
    if config.verbosity == Verbosity::Adaptive {
        // Critical blocks need this many tokens even if the budget is 0.
        let floor = run(&at(0)).plan.used_tokens;
        assert!(plan.used_tokens <= budget.max(floor), "{} of {budget}", plan.used_tokens);
        complete(plan);
        let is_walk = config.objective == Objective::Strict && config.shares.is_none();
        if is_walk && counter.is_additive() && !config.fill && config.excerpts != Excerpts::On {
            let more = run(&at(budget + 1 + budget % 40)).plan;
            let line = if more.rolled_up.is_some() { ROLL_UP_TOKENS } else { 0 };
            let of_more: u32 = more.items.iter().map(|item| item.tokens).sum();
            assert!(shown <= of_more + line, "{shown} of {budget}, then {of_more}");
        }
    }
    assert_eq!(driver.render_plan(blocks, plan).expect("its own plan"), *text);
    assert_eq!(run(&config), rendered, "the same again");
    splits_back(blocks, plan, text);
}

/// Checks that every block except Background ones is shown or counted, if a line that counts them
/// fits.
fn complete(plan: &Plan) {
    let mut codes = plan.warnings.iter().map(|warning| warning.code.name());
    if codes.any(|code| matches!(code, "below_floor" | "over_budget")) {
        return;
    }
    for item in &plan.items {
        let is_lost = item.decision == RenderDecision::Omit;
        assert!(!is_lost || item.priority == Priority::Background, "{item:?}");
    }
}

fn splits_back(blocks: &[Block<'_>], plan: &Plan, text: &str) {
    let pieces = parse_parts(text, plan.mode).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let shown = blocks.iter().zip(&plan.items).filter(|(_, item)| item.decision.is_shown());
    let mut pieces = pieces.into_iter();
    for (block, item) in shown {
        let piece = pieces.next().expect("a piece for each block that is shown");
        assert_eq!(piece.block_type, block.block_type().label());
        if item.decision == RenderDecision::Full {
            assert_eq!(piece.kind, PartKind::Full);
            if let Some(content) = content_text(&block.content) {
                assert_eq!(piece.body.as_deref(), Some(&*content), "{text}");
            }
        }
    }
    let rest = pieces.next();
    assert_eq!(rest.is_some(), plan.rolled_up.is_some(), "{rest:?}");
    parses_back(blocks, plan, text);
}

/// Checks that every block shown in full is parsed back, in order.
fn parses_back(blocks: &[Block<'_>], plan: &Plan, text: &str) {
    let found = parse_blocks(text, plan.mode).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let is_line =
        |decision: &RenderDecision| matches!(decision, RenderDecision::Placeholder { .. });
    let mut found = found.blocks.iter();
    for (block, item) in blocks.iter().zip(&plan.items) {
        if !item.decision.is_shown() || is_line(&item.decision) {
            continue;
        }
        let shown = found.next().expect("a block for each that is shown");
        assert_eq!(shown.block_type, block.block_type());
        if item.decision == RenderDecision::Full {
            assert_eq!(shown.shown, PartKind::Full);
            let content = |block: &Block<'_>| content_text(&block.content).map(Cow::into_owned);
            assert_eq!(content(&shown.block), content(block), "{text}");
        }
    }
    assert_eq!(found.next(), None);
}

/// Checks that any text is parsed into parts or gives an error with a valid offset.
pub fn parse(data: &[u8]) {
    let mut input = Input::new(data);
    let mode = input.one_of(&OutputMode::ALL);
    let built;
    let text = if input.flag() {
        let (opening, closing) = match mode {
            OutputMode::Xml => ("<context>\n", "</context>\n"),
            _ => ("", ""),
        };
        let mut text = opening.to_owned();
        while !input.is_empty() && text.len() < 2_000 {
            text.push_str(&input.text());
        }
        built = text + closing;
        &built
    } else {
        let Ok(text) = std::str::from_utf8(input.rest()) else { return };
        text
    };
    // If the text is accepted as rendered text, each part gives one block or one line.
    match (parse_blocks(text, mode), parse_parts(text, mode)) {
        (Ok(found), pieces) => {
            let pieces = pieces.expect("it was split before").len();
            assert_eq!(found.blocks.len() + found.omitted.len(), pieces);
        }
        (Err(error), _) => assert!(text.is_char_boundary(error.offset), "{error}"),
    }
    match parse_parts(text, mode) {
        Ok(pieces) => assert!(pieces.len() <= text.len()),
        Err(error) => assert!(text.is_char_boundary(error.offset), "{error}"),
    }
}

/// Checks that the counts of parts add up at additive boundaries, and that cuts respect their
/// limit.
pub fn tokens(data: &[u8]) {
    let mut input = Input::new(data);
    let limit = u32::from(input.byte());
    let text = if input.flag() {
        let mut text = String::new();
        while !input.is_empty() && text.len() < 4_000 {
            text.push_str(&input.text());
        }
        text
    } else {
        String::from_utf8_lossy(input.rest()).into_owned()
    };
    let count = O200K.estimate(&text);
    assert_eq!(count == 0, text.is_empty());
    assert_eq!(O200K.recount(&text), count);
    assert_eq!(O200K.count_up_to(&text, limit), Some(count).filter(|count| *count <= limit));
    let (start, end) = (O200K.truncate_to(&text, limit), O200K.truncate_front_to(&text, limit));
    assert!(text.starts_with(start) && O200K.estimate(start) <= limit);
    assert!(text.ends_with(end) && O200K.estimate(end) <= limit);
    let mut counter = IncrementalCounter::new(O200K);
    let mut parts = 0;
    let mut from = 0;
    for (at, after) in text.char_indices().skip(1) {
        let before = text[..at].chars().next_back().unwrap_or_default();
        if is_additive_boundary(before, after) {
            parts += O200K.estimate(&text[from..at]);
            counter.push(&text[from..at]);
            from = at;
        }
    }
    counter.push(&text[from..]);
    assert_eq!(parts + O200K.estimate(&text[from..]), count);
    assert_eq!(counter.count(), count);
}
