//! Registrations in random documents: an undo restores them, and everything else in them stays.

use proptest::prelude::*;
use serde_json::Value;

use super::Agent;
use super::tests::Home;

/// White space and comments between tokens of JSON.
fn gap() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        2 => Just(" ".to_owned()),
        2 => Just("\n  ".to_owned()),
        1 => Just("\t/* c1 */ ".to_owned()),
        1 => Just(" // c2 {\n".to_owned()),
    ]
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("1.50".to_owned()),
        Just("\"a, } ü \\u00e9\"".to_owned()),
        Just("null".to_owned()),
        Just("[1, /* c3 */ 2,]".to_owned()),
    ]
}

/// Documents of JSON with comments, some with servers and an entry of LCP.
fn jsonc() -> impl Strategy<Value = String> {
    let key = prop_oneof![Just("a"), Just("b"), Just("cc"), Just("x y")];
    let member = (gap(), key, gap(), scalar(), gap())
        .prop_map(|(a, key, b, value, c)| (key, format!("{a}\"{key}\"{b}:{value}{c}")));
    let members = proptest::collection::vec(member, 0..4).boxed();
    (members.clone(), members, any::<(bool, bool, bool, bool)>(), gap()).prop_map(
        |(outer, inner, (has_servers, has_comma, is_crlf, has_bom), end)| {
            let object = |members: Vec<(&str, String)>, more: Option<String>| {
                let mut names = Vec::new();
                let mut texts: Vec<_> = members
                    .into_iter()
                    .filter(|(key, _)| {
                        !names.contains(key) && {
                            names.push(*key);
                            true
                        }
                    })
                    .map(|(_, text)| text)
                    .collect();
                texts.extend(more);
                let comma = if has_comma && !texts.is_empty() { "," } else { "" };
                format!("{{{}{comma}{end}}}", texts.join(","))
            };
            let servers =
                has_servers.then(|| format!("\n \"mcpServers\": {}", object(inner, None)));
            let text = format!("{}{end}", object(outer, servers));
            let text = if is_crlf { text.replace('\n', "\r\n") } else { text };
            if has_bom { format!("\u{feff}{text}") } else { text }
        },
    )
}

fn toml() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("# c1 [x]\n"),
        Just("\n"),
        Just("[t{n}]\n"),
        Just("k{n} = 'v' # c2\n"),
        Just("k{n} = [ 1,\n  2, # c3\n]\n"),
        Just("[mcp_servers.s{n}]\n"),
        Just("[[l]]\n"),
        Just("d.e{n} = { a = 1.50 }\n"),
        Just("k{n} = \"\"\"\n[mcp_servers.lcp]\n\"\"\"\n"),
    ];
    (proptest::collection::vec(line, 0..8), any::<bool>()).prop_map(|(lines, is_crlf)| {
        let lines = lines.iter().enumerate();
        let text: String = lines.map(|(n, line)| line.replace("{n}", &n.to_string())).collect();
        if is_crlf { text.replace('\n', "\r\n") } else { text }
    })
}

fn comments(text: &str) -> [usize; 3] {
    ["c1", "c2", "c3"].map(|comment| text.matches(comment).count())
}

fn value(text: &str) -> Value {
    let text = text.trim_start_matches('\u{feff}');
    let options = jsonc_parser::ParseOptions::default();
    jsonc_parser::cst::CstRootNode::parse(text, &options).unwrap().to_serde_value().unwrap()
}

proptest! {
    #[test]
    fn undo_restores_any_json_and_the_rest_stays(text in jsonc()) {
        let home = Home::new();
        home.write(".gemini/settings.json", &text);
        home.apply(Agent::Gemini, false);
        let after = home.read(".gemini/settings.json");
        let mut expected = value(&text);
        expected["mcpServers"]["lcp"] = serde_json::json!({ "command": "lcp", "args": ["mcp"] });
        prop_assert_eq!(value(&after), expected);
        prop_assert_eq!(comments(&after), comments(&text));
        prop_assert!(home.plan(Agent::Gemini, false).unwrap().changes().is_empty());
        // Something else changes the file.
        home.write(".gemini/settings.json", &format!("{after}\n"));
        let plan = home.plan(Agent::Gemini, true).unwrap();
        let rest = plan.changes()[0].after.as_ref().unwrap();
        let mut expected = value(&text);
        if expected["mcpServers"] == serde_json::json!({}) && value(rest).get("mcpServers").is_none() {
            expected.as_object_mut().unwrap().remove("mcpServers");
        }
        prop_assert_eq!(value(rest), expected);
        prop_assert_eq!(comments(rest), comments(&text));
        home.write(".gemini/settings.json", &after);
        home.apply(Agent::Gemini, true);
        prop_assert_eq!(home.read(".gemini/settings.json"), text);
    }

    #[test]
    fn undo_restores_any_toml_and_the_rest_stays(text in toml()) {
        prop_assume!(text.replace("\r\n", "\n").parse::<toml_edit::DocumentMut>().is_ok());
        let home = Home::new();
        home.write(".codex/config.toml", &text);
        home.apply(Agent::Codex, false);
        let after = home.read(".codex/config.toml");
        let mut rest = after.as_str();
        // The lines that were there are there in the same order.
        for line in text.lines() {
            let at = rest.find(line);
            prop_assert!(at.is_some(), "{line:?} is missing: {after:?}");
            rest = &rest[at.unwrap() + line.len()..];
        }
        let table: toml::Table = after.parse().unwrap();
        prop_assert_eq!(table["mcp_servers"]["lcp"]["command"].as_str(), Some("lcp"));
        home.apply(Agent::Codex, true);
        prop_assert_eq!(home.read(".codex/config.toml"), text);
    }
}
