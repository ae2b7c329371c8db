//! Edits of requests over the budget.

use lcp_gateway::{Api, Reason, Request};
use lcp_tokens::{HeuristicEstimator, TokenEstimator as _};

use crate::histories::{Step, lines, request};
use crate::laws::{APIS, LARGE};
use crate::simulator::Simulator;

#[test]
fn requests_over_the_budget_are_cut_to_the_watermark_once() {
    for api in APIS {
        let mut simulator = Simulator::default();
        let mut steps = vec![Step::Turn("Read all files.".into())];
        let mut cuts = 0;
        for at in 0..80 {
            simulator.now += 10;
            steps.push(Step::Call { input: "a.txt".into(), output: lines(at, 0, 60) });
            let sent = simulator.send(api, &request(api, &steps), 30_000);
            cuts += usize::from(!sent.reasons.is_empty());
            let text = String::from_utf8(sent.body).unwrap();
            assert!(HeuristicEstimator.estimate(&text) < 36_000);
        }
        assert!((2..8).contains(&cuts), "{cuts}");
    }
}

#[test]
fn request_that_stays_over_the_budget_is_edited_only_for_much() {
    for api in APIS {
        let mut steps = vec![Step::Turn("Read it. ".repeat(12_000))];
        let read = |at| Step::Call { input: "a".into(), output: lines(at, 0, 60) };
        steps.extend((0..4).map(read));
        steps.push(Step::Turn("And now?".into()));
        let body = request(api, &steps);
        let tokens = HeuristicEstimator.estimate(&String::from_utf8_lossy(&body));
        let text = HeuristicEstimator.estimate(&"Read it. ".repeat(12_000));
        let results = tokens - text;
        assert!(results < text / 4, "{tokens} tokens");
        // The budget is below the text, but not much.
        let sent = Simulator::default().send(api, &body, text - 100);
        assert_eq!(sent.body, body);
        let sent = Simulator::default().send(api, &body, text / 2);
        assert!(sent.reasons.contains(&Reason::OverBudget), "{api:?}");
    }
}

#[test]
fn newest_duplicate_keeps_its_target_over_the_budget() {
    for api in APIS {
        let read = |file| Step::Call { input: "a.txt".into(), output: lines(file, 0, 60) };
        let mut steps = vec![Step::Turn("Read all files.".into())];
        steps.extend((0..20).map(read));
        steps.push(read(0));
        let body = request(api, &steps);
        let tokens = HeuristicEstimator.estimate(&String::from_utf8_lossy(&body));
        let sent = Simulator::default().send(api, &body, tokens / 2);
        assert!(sent.reasons.contains(&Reason::OverBudget));
        let sent = Request::parse(api, &sent.body).unwrap();
        let results = sent.results();
        assert_eq!(results[0].text, lines(0, 0, 60));
        assert!(results.last().unwrap().text.starts_with("[lcp: lines"));
    }
}

#[test]
fn edits_of_a_warm_prefix_within_the_limit_pay() {
    for api in APIS {
        let read = |at| Step::Call { input: "a".into(), output: lines(at, 0, 60) };
        // The last text is so long that results have less than a quarter of the budget.
        for (text, pays) in [(1_000, true), (16_000, false), (50_000, false)] {
            let mut simulator = Simulator::default();
            simulator.limit = Some(LARGE);
            let mut steps = vec![Step::Turn("Read all files.".into())];
            steps.extend((0..20).map(read));
            steps.push(Step::Turn("Go on. ".repeat(text)));
            steps.extend((20..26).map(read));
            simulator.send(api, &request(api, &steps), LARGE);
            steps.push(Step::Turn("And now?".into()));
            let body = request(api, &steps);
            let budget = HeuristicEstimator.estimate(&String::from_utf8_lossy(&body)) - 5_000;
            let is_edited = |simulator: &Simulator| {
                let sent = simulator.clone().send(api, &body, budget);
                sent.reasons.iter().any(|it| [Reason::OverBudget, Reason::Cold].contains(it))
            };
            assert_eq!(is_edited(&simulator), pays, "{api:?}, {text}");
            // The provider may refuse it.
            simulator.limit = None;
            assert!(is_edited(&simulator), "{api:?}, {text}");
            // An edit of a cold prefix costs nothing.
            simulator.limit = Some(LARGE);
            simulator.now += 8_000;
            assert!(is_edited(&simulator), "{api:?}, {text}");
        }
    }
}

#[test]
fn writes_for_an_hour_cost_more() {
    let read = |at| Step::Call { input: "a".into(), output: lines(at, 0, 60) };
    let mut steps = vec![Step::Turn("Read all files.".into())];
    steps.extend((0..20).map(read));
    steps.push(Step::Turn("Go on. ".repeat(1_000)));
    steps.extend((20..26).map(read));
    for (ttl, is_edited) in [("5m", true), ("1h", false)] {
        let mut simulator = Simulator::default();
        simulator.limit = Some(LARGE);
        let body = |steps: &[Step]| {
            let body = String::from_utf8(request(Api::Anthropic, steps)).unwrap();
            body.replace("\"ephemeral\"", &format!("\"ephemeral\",\"ttl\":\"{ttl}\""))
        };
        simulator.send(Api::Anthropic, body(&steps).as_bytes(), LARGE);
        let body = body(&[&steps[..], &[Step::Turn("And now?".into())]].concat());
        let budget = HeuristicEstimator.estimate(&body) - 2_000;
        let sent = simulator.send(Api::Anthropic, body.as_bytes(), budget);
        assert_eq!(sent.reasons.contains(&Reason::OverBudget), is_edited, "{ttl}");
    }
}
