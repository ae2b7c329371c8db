use expect_test::{Expect, expect};
use lcp_types::Role;

use super::{Turn, aider, headings};

fn aider_turns(text: &str) -> Vec<(Role, String)> {
    let text = format!("# aider chat started at 2026-01-01 10:00:00\n{text}");
    aider::turns(&text).unwrap().turns.into_iter().map(|turn| (turn.role, turn.text)).collect()
}

#[test]
fn aider_line_kinds_become_separate_turns() {
    let history = "\n> Added a.rs  \n>  \n\n\
                   #### Split it.  \n#### Keep the tests.  \n\n#### /run cargo test  \n\n\
                   I will.\n\n#heading\n> Applied edit to a.rs  \n";
    let expected = [
        (Role::Tool, "Added a.rs"),
        (Role::User, "Split it.\nKeep the tests."),
        (Role::User, "/run cargo test"),
        (Role::Assistant, "I will.\n\n#heading"),
        (Role::Tool, "Applied edit to a.rs"),
    ];
    assert_eq!(aider_turns(history), expected.map(|(role, text)| (role, text.to_owned())));
}

#[test]
fn session_start_line_ends_a_turn() {
    let history = "One.\n# aider chat started at 2026-01-01\nTwo.\n";
    let expected = [(Role::Assistant, "One."), (Role::Assistant, "Two.")];
    assert_eq!(aider_turns(history), expected.map(|(role, text)| (role, text.to_owned())));
}

#[test]
fn empty_lines_give_no_turns() {
    assert!(aider_turns("\n>  \n\n####   \n\n# aider chat started at 2026-01-01\n").is_empty());
    // Hashes with text directly after them are not a mark.
    assert_eq!(aider_turns("#####\n"), [(Role::Assistant, "#####".to_owned())]);
}

#[test]
fn indentation_is_preserved() {
    assert_eq!(aider_turns(">   a\n>     b\n"), [(Role::Tool, "  a\n    b".to_owned())]);
}

#[test]
fn text_without_aider_session_is_rejected() {
    assert_eq!(aider::turns("#### Deep heading\n> quoted\n"), None);
}

fn check(text: &str, expected: &Expect) {
    let shown = headings::turns(text).map(|turns| {
        let turn = |turn: &Turn| format!("{}: {:?}\n", turn.role, turn.text);
        let turns_shown: String = turns.turns.iter().map(turn).collect();
        format!("{:?}\n{turns_shown}", turns.preamble)
    });
    expected.assert_eq(&shown.unwrap_or_else(|| "no chat".to_owned()));
}

#[test]
fn role_headings_and_bold_names_begin_turns() {
    check(
        "# A chat\n\n## 🧑 User (2026-01-01 10:00)\n\nWhy?\n\n---\n\n## Assistant\n    code\n\n## Tool\n\nok\n",
        &expect![[r##"
            "# A chat"
            user: "Why?"
            assistant: "    code"
            tool: "ok"
        "##]],
    );
    check(
        "**User:** Why?\n\n**Claude**:\nSo.\n",
        &expect![[r#"
        ""
        user: "Why?"
        assistant: "So."
    "#]],
    );
    check(
        "_**User**_\n\nWhy?\n\n_**Assistant**_\n\nSo.\n",
        &expect![[r#"
        ""
        user: "Why?"
        assistant: "So."
    "#]],
    );
    check(
        "### Human:\r\nWhy?\r\n### AI:\r\nSo.\r\n",
        &expect![[r#"
        ""
        user: "Why?"
        assistant: "So."
    "#]],
    );
}

#[test]
fn code_and_other_headings_stay_inside_a_turn() {
    check(
        "## User\n```md\n## Assistant\n~~~\n```\n### Assistant\n## Assistant\n# User\nSo.\n````\n## User\n```\n",
        &expect![[r##"
            ""
            user: "```md\n## Assistant\n~~~\n```\n### Assistant"
            assistant: "# User\nSo.\n````\n## User\n```"
        "##]],
    );
}

#[test]
fn non_chat_markdown_is_rejected() {
    for text in [
        "", "# Title\n\ntext\n", "## User\n\nA manual.\n", "## User\n\n### Assistant\n",
        "**users** are\n**AI** is\n",
    ] {
        assert_eq!(headings::turns(text), None, "{text:?}");
    }
}
