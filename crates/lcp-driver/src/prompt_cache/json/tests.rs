//! Properties of plans that are written and read, and tests of malformed plan files.

use expect_test::expect;
use proptest::prelude::*;

use super::*;

/// Returns a plan with one part of each kind.
fn small() -> PreviousPlan {
    let part = |byte, shown| PreviousPart {
        position: usize::from(byte) * 2,
        block: Fingerprint([byte; 16]),
        shown,
        cost: 30 + u32::from(byte),
        text: Fingerprint([byte + 1; 16]),
        priority: None,
        tool_call_id: None,
        lang: None,
        path: None,
        renamed_from: None,
        level: None,
    };
    let excerpt = Excerpt {
        head_bytes: 120,
        tail_bytes: 0,
        omitted_lines: 7,
        omitted_tokens: 96,
        lines: Vec::new(),
    };
    PreviousPlan {
        renderer: 1,
        encoding: "o200k_base".to_owned(),
        mode: OutputMode::Markdown,
        parts: vec![
            part(0, ShownDetail::Level(DetailLevel::Full)),
            PreviousPart {
                priority: Some(Priority::High),
                tool_call_id: Some("call \"1\"\n".to_owned()),
                lang: Tag::known_lang("kotlin"),
                path: Some("a.csv".to_owned()),
                renamed_from: Some("b.rs".to_owned()),
                level: Some("Zähler: 3".to_owned()),
                ..part(1, ShownDetail::Level(DetailLevel::Summary))
            },
            part(2, ShownDetail::Excerpt(excerpt)),
            part(3, ShownDetail::Level(DetailLevel::Placeholder)),
        ],
        unshown: vec![Fingerprint([4; 16]), Fingerprint([4; 16])],
    }
}

fn empty() -> PreviousPlan {
    PreviousPlan { parts: Vec::new(), unshown: Vec::new(), ..small() }
}

/// Returns a plan file with `to` in place of `from`, and the checksum of the changed text.
fn changed(from: &str, to: &str) -> String {
    let text = small().to_json();
    assert!(text.contains(from), "{from}");
    checked(&text.replacen(from, to, 1))
}

/// Returns the same text with the correct checksum.
fn checked(text: &str) -> String {
    let (before, _) = text.rsplit_once("\"check\"").unwrap();
    format!("{before}{}{:?}{}", CHECK.0, Fingerprint::from_bytes(before.as_bytes()), CHECK.1)
}

#[track_caller]
fn error(text: &str) -> PlanFileError {
    PreviousPlan::from_json(text).unwrap_err()
}

#[test]
fn plan_json_has_one_part_per_line() {
    expect![[r#"
        {"schema":"lcp.plan.v1","renderer":1,"encoding":"o200k_base","mode":"markdown","parts":[
        {"place":0,"hash":"00000000000000000000000000000000","detail":"full","cost":30,"text":"01010101010101010101010101010101"},
        {"place":2,"hash":"01010101010101010101010101010101","detail":"summary","cost":31,"text":"02020202020202020202020202020202","priority":"high","tool_call_id":"call \"1\"\n","lang":"kotlin","path":"a.csv","renamed_from":"b.rs","level":"Zähler: 3"},
        {"place":4,"hash":"02020202020202020202020202020202","detail":"excerpt","cost":32,"text":"03030303030303030303030303030303","excerpt":{"head_bytes":120,"tail_bytes":0,"omitted_lines":7,"omitted_tokens":96}},
        {"place":6,"hash":"03030303030303030303030303030303","detail":"placeholder","cost":33,"text":"04040404040404040404040404040404"}
        ],"unshown":[
        "04040404040404040404040404040404",
        "04040404040404040404040404040404"
        ],"check":"b2fc607ea8eefdddd6cae7fd95721c9f"}
    "#]].assert_eq(&small().to_json());
    expect![[r#"
        {"schema":"lcp.plan.v1","renderer":1,"encoding":"o200k_base","mode":"markdown","parts":[],"unshown":[],"check":"7e088740ceb1de17f9bbc9dc1ab5cf73"}
    "#]].assert_eq(&empty().to_json());
    for plan in [small(), empty()] {
        assert_eq!(PreviousPlan::from_json(&plan.to_json()), Ok(plan));
    }
}

#[test]
fn any_changed_byte_is_refused() {
    let text = small().to_json();
    for at in 0..text.len() {
        for byte in 0..0x80 {
            let mut bytes = text.clone().into_bytes();
            if bytes[at] == byte {
                continue;
            }
            bytes[at] = byte;
            let Ok(changed) = String::from_utf8(bytes) else { continue };
            assert!(PreviousPlan::from_json(&changed).is_err(), "byte {at}: {changed}");
        }
    }
}

#[test]
fn any_added_or_removed_byte_is_refused() {
    let text = small().to_json();
    for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
        assert!(at == text.len() || PreviousPlan::from_json(&text[..at]).is_err(), "{at}");
        let (before, behind) = text.split_at(at);
        for more in [" ", "\n", "\"", "0", "a", ",", "{", "}", "\0", "\u{feff}"] {
            let longer = format!("{before}{more}{behind}");
            assert!(PreviousPlan::from_json(&longer).is_err(), "byte {at}: {longer}");
        }
        let mut rest = behind.chars();
        if rest.next().is_some() {
            let shorter = format!("{before}{}", rest.as_str());
            assert!(PreviousPlan::from_json(&shorter).is_err(), "byte {at}: {shorter}");
        }
    }
}

/// Checks the error message of each cause.
#[test]
fn errors_name_the_cause_and_position() {
    let text = small().to_json();
    let part = "{\"place\":0,\"hash\":\"000";
    let cases = [
        ("", "plan_syntax"),
        ("[", "plan_syntax"),
        (&text[..text.len() / 2], "plan_syntax"),
        ("[]", "plan_field"),
        ("{\"schema\":\"lcp.report.v1\",\"blocks\":[{}]}", "plan_schema"),
        (&changed("lcp.plan.v1", "lcp.plan.v2"), "plan_schema"),
        (&changed("\"schema\":\"lcp.plan.v1\",", ""), "plan_field"),
        (&changed("\"mode\"", "\"new\":1,\"mode\""), "plan_field"),
        (&changed("\"mode\"", "\"\\u001b[2J\":1,\"mode\""), "plan_field"),
        (&changed("\"mode\"", "\"mode\":\"xml\",\"mode\""), "plan_field"),
        (&changed("markdown", "html"), "plan_field"),
        (&changed("\"renderer\":1", "\"renderer\":-1"), "plan_field"),
        (&changed(part, "{\"more\":0,\"hash\":\"000"), "plan_field"),
        (&changed(part, "{\"place\":0,\"hash\":\"00"), "plan_field"),
        (&changed(part, "{\"place\":0,\"hash\":\"X00"), "plan_field"),
        (&changed("0404", "040A"), "plan_field"),
        (&changed("\"cost\":30,", ""), "plan_field"),
        (&changed("\"cost\":30,", "\"cost\":4294967296,"), "plan_field"),
        (&changed("\"cost\":30,", "\"cost\":4294967295,"), "plan_tokens"),
        (&changed("\"full\"", "\"whole\""), "plan_field"),
        (&changed("\"high\"", "\"urgent\""), "plan_field"),
        (&changed("\"tail_bytes\":0,", ""), "plan_field"),
        (&changed("\"tail_bytes\":0", "\"tail_bytes\":0.5"), "plan_field"),
        (&changed("\"summary\"", "\"full\""), "plan_part"),
        (&changed("\"full\"", "\"tags\""), "plan_part"),
        (&changed("Zähler: 3", ""), "plan_part"),
        (&changed("\"placeholder\"", "\"excerpt\""), "plan_part"),
        (&changed("\"excerpt\"", "\"placeholder\""), "plan_part"),
        (&text.replacen("\"cost\":30", "\"cost\":31", 1), "plan_checksum"),
        (&text.replacen("}\n", "}", 9), "plan_checksum"),
    ];
    let mut said = String::new();
    for (text, code) in cases {
        let error = error(text);
        assert_eq!(error.code(), code, "{error}: {text}");
        write_to(&mut said, format_args!("{error}\n"));
    }
    expect![[r#"
        the plan is not valid JSON: EOF while parsing a value (line 1, column 0)
        the plan is not valid JSON: EOF while parsing a list (line 1, column 1)
        the plan is not valid JSON: EOF while parsing a string (line 4, column 4)
        the plan has an invalid field: invalid length 0, expected a plan (line 1, column 2)
        expected a plan with schema lcp.plan.v1, got "lcp.report.v1"
        expected a plan with schema lcp.plan.v1, got "lcp.plan.v2"
        the plan has an invalid field: missing field `schema` (line 9, column 45)
        the plan has an invalid field: unknown field `new`, expected one of `schema`, `renderer`, `encoding`, `mode`, `parts`, `unshown`, `check` (line 1, column 66)
        the plan has an invalid field: unknown field `\u{1b}[2J`, expected one of `schema`, `renderer`, `encoding`, `mode`, `parts`, `unshown`, `check` (line 1, column 72)
        the plan has an invalid field: duplicate field `mode` (line 1, column 80)
        the plan has an invalid field: "html" is not a mode (line 1, column 74)
        the plan has an invalid field: invalid value: integer `-1`, expected u32 (line 1, column 37)
        the plan has an invalid field: unknown field `more`, expected one of `place`, `hash`, `detail`, `cost`, `text`, `priority`, `tool_call_id`, `lang`, `path`, `renamed_from`, `level`, `excerpt` (line 2, column 7)
        the plan has an invalid field: "0000000000000000000000000000000" is not a hash: expected 32 digits 0-9 and a-f (line 2, column 51)
        the plan has an invalid field: "X0000000000000000000000000000000" is not a hash: expected 32 digits 0-9 and a-f (line 2, column 52)
        the plan has an invalid field: "040A0404040404040404040404040404" is not a hash: expected 32 digits 0-9 and a-f (line 5, column 128)
        the plan has an invalid field: missing field `cost` (line 2, column 111)
        the plan has an invalid field: invalid value: integer `4294967296`, expected u32 (line 2, column 86)
        the parts of the plan have 4294967391 tokens, more than the maximum of 4294967295
        the plan has an invalid field: "whole" is not a detail level (line 2, column 69)
        the plan has an invalid field: "urgent" is not a priority (line 3, column 143)
        the plan has an invalid field: missing field `tail_bytes` (line 4, column 190)
        the plan has an invalid field: invalid type: floating point `0.5`, expected usize (line 4, column 168)
        part 1 of the plan (full) is invalid: unexpected text of a level
        part 0 of the plan (tags) is invalid: missing text of the level
        part 1 of the plan (summary) is invalid: missing text of the level
        part 3 of the plan (excerpt) is invalid: missing excerpt
        part 2 of the plan (placeholder) is invalid: unexpected excerpt
        the plan was changed after it was written: its checksum does not match
        the plan was changed after it was written: its checksum does not match
    "#]].assert_eq(&said);
}

#[test]
fn plan_of_a_newer_renderer_is_accepted() {
    let plan = PreviousPlan { renderer: u32::MAX, ..small() };
    assert_eq!(PreviousPlan::from_json(&plan.to_json()), Ok(plan));
}

#[test]
fn deep_nesting_is_an_error() {
    for (open, close) in [("[", "]"), ("{\"schema\":", "}")] {
        let deep = format!("{}{}", open.repeat(1_000_000), close.repeat(1_000_000));
        error(&deep);
        error(&format!("{{\"schema\":\"lcp.plan.v2\",\"parts\":{deep}}}"));
    }
}

#[test]
fn checksum_must_end_the_file() {
    // A checksum in another place, or a second one, would not cover the whole file.
    let text = small().to_json();
    let (before, check) = text.split_at(text.rfind("\"check\"").unwrap());
    let check = &check[..check.len() - 2];
    error(&format!("{{{check},{}}}\n", &before[1..before.len() - 1]));
    error(&checked(&format!("{{{check},{}\"check\"", &before[1..])));
    // The field name inside of a string does not count.
    let level = format!("{{\"encoding\":\"{}", before.replace('"', "\\\""));
    error(&checked(&format!("{level}\"check\"")));
}

fn any_hash() -> impl Strategy<Value = Fingerprint> {
    any::<[u8; 16]>().prop_map(Fingerprint)
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![".{1,20}", "[\\x00-\\x7f]{1,20}", Just("\"check\":\"".to_owned())]
}

fn any_part() -> impl Strategy<Value = PreviousPart> {
    let lines = prop::collection::vec(any::<(u32, u32)>(), 0..3);
    let figures = (any::<usize>(), any::<usize>(), any::<usize>(), any::<u32>(), lines);
    let excerpt = figures.prop_map(|figures| {
        let (head_bytes, tail_bytes, omitted_lines, omitted_tokens, lines) = figures;
        let excerpt = Excerpt { head_bytes, tail_bytes, omitted_lines, omitted_tokens, lines };
        ShownDetail::Excerpt(excerpt)
    });
    let detail = prop::sample::select(&DetailLevel::ALL[..]).prop_map(ShownDetail::Level);
    let shown = (prop_oneof![4 => detail, 1 => excerpt], any_text());
    let head =
        (prop::option::of(prop::sample::select(&Priority::ALL[..])), prop::option::of(any_text()));
    let lang = prop::option::of(prop::sample::select(&Tag::LANGS[..]));
    let tags = (lang, prop::option::of(any_text()), prop::option::of(any_text()));
    (any::<usize>(), any_hash(), any_hash(), 0..1u32 << 28, shown, head, tags).prop_map(
        |(place, block, text, cost, (shown, level), (priority, tool_call_id), tags)| {
            let (lang, path, renamed_from) = tags;
            let has_level = matches!(
                shown,
                ShownDetail::Level(
                    DetailLevel::Detailed | DetailLevel::Summary | DetailLevel::Tags
                )
            );
            let level = has_level.then_some(level);
            PreviousPart {
                position: place,
                block,
                shown,
                cost,
                text,
                priority,
                tool_call_id,
                lang,
                path,
                renamed_from,
                level,
            }
        },
    )
}

fn any_plan() -> impl Strategy<Value = PreviousPlan> {
    let lists = (prop::collection::vec(any_part(), 0..8), prop::collection::vec(any_hash(), 0..4));
    let mode = prop::sample::select(&OutputMode::ALL[..]);
    (any::<u32>(), any_text(), mode, lists).prop_map(|(renderer, encoding, mode, lists)| {
        let (parts, unshown) = lists;
        PreviousPlan { renderer, encoding, mode, parts, unshown }
    })
}

proptest! {
    #[test]
    fn plan_round_trips_through_json(plan in any_plan()) {
        let text = plan.to_json();
        prop_assert_eq!(text.lines().count(), match (plan.parts.len(), plan.unshown.len()) {
            (0, 0) => 1,
            (0, lines) | (lines, 0) => lines + 2,
            (parts, unshown) => parts + unshown + 3,
        });
        prop_assert_eq!(&PreviousPlan::from_json(&text), &Ok(plan.clone()));
        prop_assert_eq!(text, plan.clone().to_json());
    }

    #[test]
    fn malformed_plan_is_refused_without_panic(text in any::<String>(), at in 0usize..2_000, byte in any::<u8>()) {
        prop_assert!(PreviousPlan::from_json(&text).is_err());
        let mut bytes = small().to_json().into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        let text = String::from_utf8_lossy(&bytes);
        let same = text == small().to_json();
        prop_assert_eq!(PreviousPlan::from_json(&text).is_ok(), same);
        // Every file that is read with a correct checksum can be written again.
        if text.contains("\"check\"")
            && let Ok(plan) = PreviousPlan::from_json(&checked(&text))
        {
            prop_assert_eq!(PreviousPlan::from_json(&plan.to_json()), Ok(plan));
        }
    }
}
