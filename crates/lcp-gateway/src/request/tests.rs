use proptest::prelude::*;

use super::*;
use crate::beginnings::Beginnings;

fn parse(api: Api, body: &str) -> Option<Request<'_>> {
    Request::parse(api, body.as_bytes())
}

/// Returns the hashes of the beginnings of a request.
fn hashes(request: &Request<'_>) -> Vec<Hash> {
    let mut beginnings = Beginnings::new(request);
    beginnings.hash_from(0, request, |at| request.outline.results[at].key.text);
    beginnings.hashes().to_vec()
}

const RESULT: &str =
    r#"{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"ls"MARK}]MARK}"#;

#[test]
fn cache_marks_change_no_hash() {
    let mark = r#","cache_control":{"type":"ephemeral","ttl":"1h"}"#;
    let body = |mark: &str| {
        let result = RESULT.replace("MARK", mark);
        format!(
            r#"{{"model":"m","tools":[{{"name":"t"{mark}}}],"messages":[{{"role":"user","content":
               [{result},{{"text":"\"cache_control\":1","type":"text"{mark}}}]}}]}}"#
        )
    };
    let (plain, marked) = (body(""), body(mark));
    let (plain, marked) =
        (parse(Api::Anthropic, &plain).unwrap(), parse(Api::Anthropic, &marked).unwrap());
    assert_eq!(hashes(&plain), hashes(&marked));
    assert!(!plain.outline.messages[0].has_mark && marked.outline.messages[0].has_mark);
    assert_eq!((plain.results().len(), marked.results().len()), (1, 1));

    // The first field, and one that is switched off.
    let first =
        r#"{"model":"m","messages":[{"cache_control":null , "role":"user","content":"hi"}]}"#;
    let first = parse(Api::Anthropic, first).unwrap();
    let plain = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
    assert_eq!(hashes(&first), hashes(&parse(Api::Anthropic, plain).unwrap()));
    assert!(!first.outline.messages[0].has_mark);
}

#[test]
#[cfg(feature = "proxy")]
fn cache_is_that_of_the_marks_and_of_the_provider() {
    use super::cache::{FIVE_MINUTES, HOUR};
    use CachedMessages::{All, Unasked, UntilMark};

    const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;
    let hour = MARK.replace("al\"", "al\",\"ttl\":\"1h\"");
    let check = |model: &str, marks: [&str; 3], expected: (CachedMessages, u32, u64)| {
        let [head, message, top] = marks;
        let body = format!(
            r#"{{"model":"{model}","tools":[{{"name":"t"{head}}}],"messages":[{{"role":"user",
               "content":[{{"type":"text","text":"hi"{message}}}]}}]{top}}}"#
        );
        let mut request = parse(Api::Anthropic, &body).unwrap();
        let (messages, seconds, write_price) = expected;
        let reports_writes = model != "deepseek-chat";
        let expected = Cache { messages, seconds, write_price, reports_writes };
        assert_eq!(request.cache, expected, "{body}");
        request.set_reports_writes();
        request.cache.messages
    };
    for claude in ["us.anthropic.claude-x", "Claude-X"] {
        check(claude, ["", MARK, ""], (UntilMark, FIVE_MINUTES, WRITTEN));
        check(claude, ["", &hour, ""], (UntilMark, HOUR, WRITTEN_HOUR));
        check(claude, ["", "", MARK], (All, FIVE_MINUTES, WRITTEN));
        check(claude, ["", MARK, &hour], (All, HOUR, WRITTEN_HOUR));
        for head in ["", MARK, &hour] {
            check(claude, [head, "", ""], (Unasked, HOUR, INPUT));
        }
    }
    // Other providers cache unasked, and charge no writes.
    let after_writes = [
        check("deepseek-chat", ["", MARK, ""], (All, HOUR, INPUT)),
        check("deepseek-chat", ["", "", ""], (All, HOUR, INPUT)),
    ];
    assert_eq!(after_writes, [UntilMark, Unasked]);
}

#[test]
fn marks_within_arguments_are_data() {
    let call = |value: &str| {
        format!(
            r#"{{"model":"m","messages":[{{"role":"assistant","content":[{{"type":"tool_use","id":"a",
               "name":"write","input":{{"cache_control":{value}}}}}]}}]}}"#
        )
    };
    let (one, two) = (call("1"), call("2"));
    let (one, two) = (parse(Api::Anthropic, &one).unwrap(), parse(Api::Anthropic, &two).unwrap());
    assert_ne!(hashes(&one), hashes(&two));
    assert!(!one.outline.messages[0].has_mark);
    assert_eq!(one.calls()["a"].0, "write");
}

#[test]
fn fields_in_any_order_and_with_escapes_are_read() {
    let body = r#"{"messages":[{"content":"a\nb","tool_call_id":"call\u005f1","role":"tool"},
        {"content":"\ud83d\ude00","tool_call_id":"x","role":"tool"},
        {"content":"\ud83d","tool_call_id":"y","role":"tool"}],"model":"m"}"#;
    let request = parse(Api::OpenAiChat, body).unwrap();
    let results = request.results();
    assert_eq!(results.iter().map(|it| it.call).collect::<Vec<_>>(), ["call_1", "x"]);
    assert_eq!(results.iter().map(|it| &*it.text).collect::<Vec<_>>(), ["a\nb", "😀"]);
}

#[test]
fn ambiguous_and_unknown_requests_are_refused() {
    for body in [
        r#"{"model":"m","messages":[{"role":"user","content":"a","content":"b"}]}"#,
        r#"{"model":"m","messages":[],"messages":[]}"#,
        r#"{"model":"m","messages":[{"cache_control":null,"cache_control":null,"role":"user"}]}"#,
        r#"{"model":"m","messages":[{"r\u006fle":"user","content":"a"}]}"#,
        r#"{"model":"m","m\u0065ssages":[],"messages":[]}"#,
        r#"{"model":"m","messages":[{"role":"user","content":"a"}]} x"#,
        r#"{"model":"m","messages":[{"role":"user","content":"a",}]}"#,
        r#"{"model":"m","messages":"text"}"#,
        r#"{"model":"m","messages":null}"#,
        r#"{"model":1,"messages":[]}"#,
        r#"{"model":"m","messages":["text"]}"#,
        r#"{"model":"m","previous_response_id":"r","messages":[]}"#,
        r#"{"model":"m","messages":[{"role":"tool","content":"a"}]}"#,
        r#"["model"]"#,
        "",
    ] {
        assert!(parse(Api::OpenAiChat, body).is_none(), "{body}");
    }
    assert!(
        parse(Api::OpenAiChat, r#"{"model":"m","previous_response_id":null,"messages":[]}"#)
            .is_some()
    );
}

#[test]
fn only_edits_of_results_are_valid() {
    let body = |text: &str| {
        format!(
            r#"{{"model":"m","messages":[{{"role":"tool","tool_call_id":"a","content":""}},
               {{"role":"tool","tool_call_id":"b","content":"{text}"}}]}}"#
        )
    };
    let old = body("long");
    let request = parse(Api::OpenAiChat, &old).unwrap();
    let at = |text: &str| old.find(text).unwrap()..old.find(text).unwrap() + text.len();
    let is_valid = |replaced: &[(&str, &str)]| {
        let replaced = replaced.iter().map(|(old, new)| (at(old), Arc::from(*new))).collect();
        let edited = EditedBody::new(&old, replaced);
        request.differs_only_in_results(&edited)
            && parse(Api::OpenAiChat, std::str::from_utf8(&edited.to_bytes()).unwrap()).is_some()
    };
    let (first, second) = ("\"\"", "\"long\"");
    assert!(is_valid(&[]));
    assert!(is_valid(&[(second, "\"short\"")]));
    assert!(is_valid(&[(first, "\"a\""), (second, "\"short\"")]));
    assert!(!is_valid(&[(second, "\"short\""), (first, "\"a\"")]));
    for new in ["\"\"", " \"short\"", "short", "\"a\"\"", "\"a\" ", "\"\\x\""] {
        assert!(!is_valid(&[(second, new)]), "{new}");
    }
    assert!(!is_valid(&[("\"b\"", "\"c\"")]));
    assert!(!is_valid(&[("long", "\"c\"")]));
}

/// Returns a message of each kind. The ids of some are the same.
fn message(kind: usize, at: usize, mark: &str) -> String {
    match kind {
        0 => format!(r#"{{"role":"user","content":"turn {at}"{mark}}}"#),
        1 => format!(
            r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"{at}","name":"read","input":{{}}}}]}}"#
        ),
        2 => format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{at}","content":"a\nb"{mark}}}]}}"#
        ),
        3 => {
            format!(r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"{at}"}}]}}"#)
        }
        4 => {
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"c"}]}"#
                .into()
        }
        _ => format!(r#" {{ "content" : [ ] , "role" : "user" , "x" : [{at}.5]{mark} }}"#),
    }
}

/// Returns a request with a mark in the message `marked`.
fn body(kinds: &[usize], marked: usize, is_head_first: bool) -> String {
    let mark = r#","cache_control":{"type":"ephemeral"}"#;
    let message =
        |(at, kind): (usize, &usize)| message(*kind, at, if at == marked { mark } else { "" });
    let messages: Vec<_> = kinds.iter().enumerate().map(message).collect();
    let messages = format!(r#""messages":[{}]"#, messages.join(","));
    let head = format!(r#""model":"m","system":[{{"type":"text","text":"s"{mark}}}]"#);
    if is_head_first { format!("{{{head},{messages}}}") } else { format!("{{{messages},{head}}}") }
}

proptest! {
    #[test]
    fn continuation_is_read_like_any_request(
        kinds in prop::collection::vec(0..6_usize, 0..8),
        tail in prop::collection::vec(0..6_usize, 0..4),
        shared in 0..9_usize,
        marks in (0..8_usize, 0..12_usize),
        is_head_first: bool,
    ) {
        let mut next = kinds.clone();
        next.truncate(shared);
        next.extend(tail);
        let (previous, next) = (body(&kinds, marks.0, is_head_first), body(&next, marks.1, is_head_first));
        let pairs = previous.bytes().zip(next.bytes());
        let common = pairs.take_while(|(one, other)| one == other).count();
        let outline = parse(Api::Anthropic, &previous).unwrap().outline;
        let read = Request::parse_after(Api::Anthropic, &next, outline.clone(), common);
        let expected = parse(Api::Anthropic, &next);
        prop_assert_eq!(format!("{:?}", read), format!("{:?}", expected));
    }
}

#[test]
fn results_with_repeated_ids_are_part_of_their_hash() {
    let body = |second: &str| {
        let result =
            |text: &str| format!(r#"{{"role":"tool","tool_call_id":"a","content":"{text}"}}"#);
        format!(r#"{{"model":"m","messages":[{},{}]}}"#, result("one"), result(second))
    };
    let (two, three) = (body("two"), body("three"));
    let (two, three) =
        (parse(Api::OpenAiChat, &two).unwrap(), parse(Api::OpenAiChat, &three).unwrap());
    assert_eq!((two.results().len(), three.results().len()), (0, 0));
    let (two, three) = (hashes(&two), hashes(&three));
    assert_eq!(two[1], three[1]);
    assert_ne!(two[2], three[2]);
}

#[test]
fn hashes_depend_on_the_order_of_results_and_not_on_where_hashing_began() {
    let body = |first: &str, second: &str| {
        let result = |id: &str, text: &str| {
            format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"{text}"}}"#)
        };
        format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":"hi"}},{{"role":"user","content":
               [{},{}]}},{{"role":"user","content":"more"}}]}}"#,
            result("a", first),
            result("b", second)
        )
    };
    let (one, other) = (body("x", "y"), body("y", "x"));
    let (one, other) =
        (parse(Api::Anthropic, &one).unwrap(), parse(Api::Anthropic, &other).unwrap());
    let (first, second) = (hashes(&one), hashes(&other));
    assert_eq!(first[1], second[1]);
    assert_ne!(first[2], second[2]);
    let mut beginnings = Beginnings::new(&one);
    beginnings.hash_from(0, &one, |at| other.outline.results[at].key.text);
    beginnings.hash_from(1, &one, |at| one.outline.results[at].key.text);
    assert_eq!(beginnings.hashes(), first);
}
