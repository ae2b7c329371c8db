//! Properties of every hand-off and budget.

use proptest::prelude::*;

use super::*;

/// Generates untrusted texts, with newlines, marks and delimiters.
fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => "[a-z]{2,9}",
        1 => Just("\n".to_owned()),
        1 => Just("</document>".to_owned()),
        1 => Just("```".to_owned()),
        1 => Just("\n[user]".to_owned()),
        1 => Just("\"é\u{2028}".to_owned()),
    ];
    prop::collection::vec(word, 1..12).prop_map(|words| words.join(" "))
}

/// Generates texts that cost more than the line that would replace them.
fn many_words() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-z]{6,9}", 40..80).prop_map(|words| words.join(" "))
}

fn any_anchor() -> impl Strategy<Value = AnchorPoint> {
    (0..6_usize, words(), 0.0..1.0)
        .prop_map(|(kind, text, importance)| anchor(AnchorKind::ALL[kind], &text, importance))
}

fn any_task() -> impl Strategy<Value = PendingTask> {
    let steps = || prop::collection::vec(words(), 0..5);
    let status = prop_oneof![
        Just(TaskStatus::Pending),
        Just(TaskStatus::InProgress),
        Just(TaskStatus::Blocked)
    ];
    (words(), status, steps(), steps(), prop::option::of(any::<bool>())).prop_map(
        |(description, status, done_steps, remaining_steps, approved)| PendingTask {
            description,
            status,
            done_steps,
            remaining_steps,
            approved,
            ..PendingTask::default()
        },
    )
}

fn any_recent() -> impl Strategy<Value = Vec<Recorded>> {
    let message = (0..3_u8, 0..3_u8, words()).prop_map(|(kind, id, text)| match kind {
        0 => Message::user(text),
        1 => Message::tool_call(id.to_string(), text),
        _ => Message::tool_result(id.to_string(), "tool", Status::Ok, text),
    });
    prop::collection::vec(message, 0..6).prop_map(|messages| {
        (0..).zip(messages).map(|(at, message)| recorded(at, message)).collect()
    })
}

fn any_handoff() -> impl Strategy<Value = SessionHandoff> {
    let anchors = prop::collection::vec(any_anchor(), 0..8);
    let tasks = prop::collection::vec(any_task(), 0..4);
    let brief = prop::option::of(words());
    (anchors, tasks, many_words(), brief, many_words(), words(), any_recent()).prop_map(
        |(anchors, pending_tasks, summary, summary_brief, state, intent, recent)| SessionHandoff {
            anchors,
            pending_tasks,
            summary,
            summary_brief,
            state: Some(SessionState { recent_commands: vec![state], ..SessionState::default() }),
            user_intent: Some(intent),
            recent,
            ..empty()
        },
    )
}

fn any_options() -> impl Strategy<Value = DirectiveOptions> {
    (0..3_usize, 0..3_usize, 0..900_u32).prop_map(|(style, mode, budget)| DirectiveOptions {
        budget: Some(budget),
        style: STYLES[style],
        mode: OutputMode::ALL[mode],
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn budget_is_respected_and_state_is_omitted_first(
        handoff in any_handoff(),
        options in any_options(),
    ) {
        let directive = directive(&handoff, &options);
        let (text, fidelity) = (&directive.text, &directive.coverage);
        prop_assert_eq!(directive.tokens, o200k().estimate(text));
        prop_assert!(Some(directive.tokens) <= options.budget);
        prop_assert_eq!(text.is_empty(), directive.tokens == 0);
        let complete = fidelity.anchors.retained == fidelity.anchors.total
            && fidelity.task_steps.retained == fidelity.task_steps.total;
        let state = fidelity.state.retained == 1;
        let summary = text.contains(&handoff.summary);
        prop_assert!(complete || !state && !summary, "{text}");
        prop_assert!(summary || !state, "{text}");
        let shown_all = complete && state && summary
            && handoff.recent.iter().all(|of| text.contains(of.message.text().as_ref()));
        prop_assert!(shown_all || !directive.warnings.is_empty(), "{text}");
        let named = |lost: &String| directive.warnings.iter().any(|of| of.ends_with(lost));
        prop_assert!(fidelity.lost.iter().all(named));
        prop_assert_eq!(&super::directive(&handoff, &options), &directive);
    }

    #[test]
    fn unlimited_budget_shows_everything(handoff in any_handoff(), at in 0..9_usize) {
        let options = all_forms(None).nth(at).expect("nine forms");
        let directive = directive(&handoff, &options);
                prop_assert!(directive.coverage.ok && directive.coverage.lost.is_empty());
        prop_assert!(directive.warnings.is_empty());
        let mut shown = vec![&handoff.summary];
        shown.extend(&handoff.user_intent);
        prop_assert!(shown.iter().all(|words| directive.text.contains(words.as_str())));
        for recorded in &handoff.recent {
            prop_assert!(directive.text.contains(recorded.message.text().as_ref()));
        }
        let exact = DirectiveOptions { budget: Some(directive.tokens), ..options };
        prop_assert_eq!(&super::directive(&handoff, &exact).text, &directive.text);
    }

    #[test]
    fn non_additive_estimates_respect_the_budget(
        handoff in any_handoff(),
        options in any_options(),
    ) {
        let counter = Arc::new(HeuristicEstimator);
        let directive = continuation_directive(&handoff, &options, counter).expect("a directive");
        prop_assert_eq!(directive.tokens, HeuristicEstimator.estimate(&directive.text));
        prop_assert!(Some(directive.tokens) <= options.budget);
    }
}
