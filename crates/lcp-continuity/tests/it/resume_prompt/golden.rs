//! One hand-off in every style and mode.

use expect_test::{Expect, expect};

use super::*;

/// Returns a small hand-off with most kinds of entries.
fn small() -> SessionHandoff {
    let mut handoff = sample();
    handoff.pending_tasks.remove(0);
    handoff.anchors.retain(|anchor| anchor.kind != AnchorKind::OpenQuestion);
    handoff.recent.remove(0);
    if let Some(state) = &mut handoff.state {
        state.active_files.clear();
        state.variables.clear();
    }
    handoff.summary.truncate("user: Store sessions durably.".len());
    handoff
}

fn check(style: DirectiveStyle, mode: OutputMode, text: &Expect) {
    let options = DirectiveOptions { budget: None, style, mode };
    text.assert_eq(&directive(&small(), &options).text);
}

macro_rules! golden {
    ($($name:ident: $style:ident $mode:ident, $text:expr;)*) => {$(
        #[test]
        fn $name() {
            check(DirectiveStyle::$style, OutputMode::$mode, &$text);
        }
    )*};
}

golden! {
    concise_xml: Concise Xml, expect![[r#"
        <context>
        <document title="continuation">
        Continues conv-7 (ended: Context window utilization exceeded 85% threshold). Do not start over. Decisions and commitments are binding.
        </document>
        <document title="user intent">
        Sessions must survive a crash.
        </document>
        <document title="next">
        - Continue with "Port the store": Migrate the data
        - Continue with "Port the store": Drop the cache
        - The call "read_file src/store.rs" (call_7) has no result yet: repeat it if it is needed
        </document>
        <document title="decisions">
        -
        ```
        Keep the WAL.
        Always.
        ```
        - Use SQLite.
        </document>
        <document title="commitments">
        - I will not touch the "v1" table.
        </document>
        <document title="tasks">
        in progress, the user agreed: Port the store
        - [x] Write the schema
        - [ ] Migrate the data
        - [ ] Drop the cache
        done when: All tests pass.
        </document>
        <document title="summary">
        user: Store sessions durably.
        </document>
        <document title="state">
        directory: /srv/app
        branch: store
        commands, newest last:
        - cargo test
        </document>
        <conversation role="assistant" tool_call_id="call_6">
        run_tests
        </conversation>
        <tool-result name="run_tests" status="error" tool_call_id="call_6">
        1 failed
        </tool-result>
        <conversation role="assistant" tool_call_id="call_7">
        read_file src/store.rs
        </conversation>
        </context>
    "#]];
    concise_markdown: Concise Markdown, expect![[r####"
        ### document continuation
        Continues conv-7 (ended: Context window utilization exceeded 85% threshold). Do not start over. Decisions and commitments are binding.
        ### document "user intent"
        Sessions must survive a crash.
        ### document next
        - Continue with "Port the store": Migrate the data
        - Continue with "Port the store": Drop the cache
        - The call "read_file src/store.rs" (call_7) has no result yet: repeat it if it is needed
        ### document decisions
        -
        ```
        Keep the WAL.
        Always.
        ```
        - Use SQLite.
        ### document commitments
        - I will not touch the "v1" table.
        ### document tasks
        in progress, the user agreed: Port the store
        - [x] Write the schema
        - [ ] Migrate the data
        - [ ] Drop the cache
        done when: All tests pass.
        ### document summary
        user: Store sessions durably.
        ### document state
        directory: /srv/app
        branch: store
        commands, newest last:
        - cargo test
        ### assistant #call_6
        run_tests
        ### tool-result run_tests error #call_6
        ```
        1 failed
        ```
        ### assistant #call_7
        read_file src/store.rs
    "####]];
    concise_minimal: Concise Minimal, expect![[r#"
        [document continuation]
        Continues conv-7 (ended: Context window utilization exceeded 85% threshold). Do not start over. Decisions and commitments are binding.
        [document "user intent"]
        Sessions must survive a crash.
        [document next]
        - Continue with "Port the store": Migrate the data
        - Continue with "Port the store": Drop the cache
        - The call "read_file src/store.rs" (call_7) has no result yet: repeat it if it is needed
        [document decisions]
        -
        ```
        Keep the WAL.
        Always.
        ```
        - Use SQLite.
        [document commitments]
        - I will not touch the "v1" table.
        [document tasks]
        in progress, the user agreed: Port the store
        - [x] Write the schema
        - [ ] Migrate the data
        - [ ] Drop the cache
        done when: All tests pass.
        [document summary]
        user: Store sessions durably.
        [document state]
        directory: /srv/app
        branch: store
        commands, newest last:
        - cargo test
        [assistant #call_6] run_tests
        [tool-result run_tests error #call_6]
        1 failed
        [assistant #call_7] read_file src/store.rs
    "#]];
    narrative_xml: Narrative Xml, expect![[r#"
        <context>
        <document title="briefing">
        You are taking over conversation conv-7 from the previous session. It ended because: Context window utilization exceeded 85% threshold. Continue where it stopped. Do not start over, and do not ask again about anything that is settled here. Quotations are verbatim. The decisions and commitments among them are binding.
        </document>
        <document title="user intent">
        Sessions must survive a crash.
        </document>
        <document title="next steps">
        First: Continue with "Port the store": Migrate the data
        Then: Continue with "Port the store": Drop the cache
        Then: The call "read_file src/store.rs" (call_7) has no result yet: repeat it if it is needed
        </document>
        <document title="decisions and facts">
        Decisions that still apply:
        ```
        Keep the WAL.
        Always.
        ```
        "Use SQLite."
        Commitments to keep: “I will not touch the "v1" table.”
        </document>
        <document title="remaining tasks">
        The task "Port the store" is in progress, the user agreed.
        Finished steps: "Write the schema"
        Remaining steps, in this order: "Migrate the data", "Drop the cache"
        It is finished when: "All tests pass."
        </document>
        <document title="summary">
        user: Store sessions durably.
        </document>
        <document title="current state">
        Working directory: "/srv/app"
        Branch: "store"
        Recent commands, newest last: "cargo test"
        </document>
        <conversation role="assistant" tool_call_id="call_6">
        run_tests
        </conversation>
        <tool-result name="run_tests" status="error" tool_call_id="call_6">
        1 failed
        </tool-result>
        <conversation role="assistant" tool_call_id="call_7">
        read_file src/store.rs
        </conversation>
        </context>
    "#]];
    narrative_markdown: Narrative Markdown, expect![[r####"
        ### document briefing
        You are taking over conversation conv-7 from the previous session. It ended because: Context window utilization exceeded 85% threshold. Continue where it stopped. Do not start over, and do not ask again about anything that is settled here. Quotations are verbatim. The decisions and commitments among them are binding.
        ### document "user intent"
        Sessions must survive a crash.
        ### document "next steps"
        First: Continue with "Port the store": Migrate the data
        Then: Continue with "Port the store": Drop the cache
        Then: The call "read_file src/store.rs" (call_7) has no result yet: repeat it if it is needed
        ### document "decisions and facts"
        Decisions that still apply:
        ```
        Keep the WAL.
        Always.
        ```
        "Use SQLite."
        Commitments to keep: “I will not touch the "v1" table.”
        ### document "remaining tasks"
        The task "Port the store" is in progress, the user agreed.
        Finished steps: "Write the schema"
        Remaining steps, in this order: "Migrate the data", "Drop the cache"
        It is finished when: "All tests pass."
        ### document summary
        user: Store sessions durably.
        ### document "current state"
        Working directory: "/srv/app"
        Branch: "store"
        Recent commands, newest last: "cargo test"
        ### assistant #call_6
        run_tests
        ### tool-result run_tests error #call_6
        ```
        1 failed
        ```
        ### assistant #call_7
        read_file src/store.rs
    "####]];
    narrative_minimal: Narrative Minimal, expect![[r#"
        [document briefing]
        You are taking over conversation conv-7 from the previous session. It ended because: Context window utilization exceeded 85% threshold. Continue where it stopped. Do not start over, and do not ask again about anything that is settled here. Quotations are verbatim. The decisions and commitments among them are binding.
        [document "user intent"]
        Sessions must survive a crash.
        [document "next steps"]
        First: Continue with "Port the store": Migrate the data
        Then: Continue with "Port the store": Drop the cache
        Then: The call "read_file src/store.rs" (call_7) has no result yet: repeat it if it is needed
        [document "decisions and facts"]
        Decisions that still apply:
        ```
        Keep the WAL.
        Always.
        ```
        "Use SQLite."
        Commitments to keep: “I will not touch the "v1" table.”
        [document "remaining tasks"]
        The task "Port the store" is in progress, the user agreed.
        Finished steps: "Write the schema"
        Remaining steps, in this order: "Migrate the data", "Drop the cache"
        It is finished when: "All tests pass."
        [document summary]
        user: Store sessions durably.
        [document "current state"]
        Working directory: "/srv/app"
        Branch: "store"
        Recent commands, newest last: "cargo test"
        [assistant #call_6] run_tests
        [tool-result run_tests error #call_6]
        1 failed
        [assistant #call_7] read_file src/store.rs
    "#]];
    structured_xml: Structured Xml, expect![[r#"
        <context>
        <document title="continuation">
        This session continues conversation conv-7, which ended because: Context window utilization exceeded 85% threshold.
        Do not start over. Continue where it stopped. The decisions and commitments below are verbatim and binding.
        </document>
        <document title="user intent">
        Sessions must survive a crash.
        </document>
        <document title="immediate actions">
        1. Continue with "Port the store": Migrate the data
        2. Continue with "Port the store": Drop the cache
        3. The call "read_file src/store.rs" (call_7) has no result yet: repeat it if it is needed
        </document>
        <document title="decision">
        Keep the WAL.
        Always.
        </document>
        <document title="decision">
        Use SQLite.
        </document>
        <document title="commitment">
        I will not touch the "v1" table.
        </document>
        <document title="Port the store">
        status: in progress, the user agreed
        - [x] Write the schema
        - [ ] Migrate the data
        - [ ] Drop the cache
        done when: All tests pass.
        </document>
        <document title="summary">
        user: Store sessions durably.
        </document>
        <document title="state">
        directory: /srv/app
        branch: store
        commands, newest last:
        - cargo test
        </document>
        <conversation role="assistant" tool_call_id="call_6">
        run_tests
        </conversation>
        <tool-result name="run_tests" status="error" tool_call_id="call_6">
        1 failed
        </tool-result>
        <conversation role="assistant" tool_call_id="call_7">
        read_file src/store.rs
        </conversation>
        </context>
    "#]];
    structured_markdown: Structured Markdown, expect![[r####"
        ### document continuation
        This session continues conversation conv-7, which ended because: Context window utilization exceeded 85% threshold.
        Do not start over. Continue where it stopped. The decisions and commitments below are verbatim and binding.
        ### document "user intent"
        Sessions must survive a crash.
        ### document "immediate actions"
        1. Continue with "Port the store": Migrate the data
        2. Continue with "Port the store": Drop the cache
        3. The call "read_file src/store.rs" (call_7) has no result yet: repeat it if it is needed
        ### document decision
        Keep the WAL.
        Always.
        ### document decision
        Use SQLite.
        ### document commitment
        I will not touch the "v1" table.
        ### document "Port the store"
        status: in progress, the user agreed
        - [x] Write the schema
        - [ ] Migrate the data
        - [ ] Drop the cache
        done when: All tests pass.
        ### document summary
        user: Store sessions durably.
        ### document state
        directory: /srv/app
        branch: store
        commands, newest last:
        - cargo test
        ### assistant #call_6
        run_tests
        ### tool-result run_tests error #call_6
        ```
        1 failed
        ```
        ### assistant #call_7
        read_file src/store.rs
    "####]];
    structured_minimal: Structured Minimal, expect![[r#"
        [document continuation]
        This session continues conversation conv-7, which ended because: Context window utilization exceeded 85% threshold.
        Do not start over. Continue where it stopped. The decisions and commitments below are verbatim and binding.
        [document "user intent"]
        Sessions must survive a crash.
        [document "immediate actions"]
        1. Continue with "Port the store": Migrate the data
        2. Continue with "Port the store": Drop the cache
        3. The call "read_file src/store.rs" (call_7) has no result yet: repeat it if it is needed
        [document decision]
        Keep the WAL.
        Always.
        [document decision]
        Use SQLite.
        [document commitment]
        I will not touch the "v1" table.
        [document "Port the store"]
        status: in progress, the user agreed
        - [x] Write the schema
        - [ ] Migrate the data
        - [ ] Drop the cache
        done when: All tests pass.
        [document summary]
        user: Store sessions durably.
        [document state]
        directory: /srv/app
        branch: store
        commands, newest last:
        - cargo test
        [assistant #call_6] run_tests
        [tool-result run_tests error #call_6]
        1 failed
        [assistant #call_7] read_file src/store.rs
    "#]];
}

#[test]
fn small_budget_omits_state_summary_and_messages() {
    let options = DirectiveOptions { budget: Some(230), ..DirectiveOptions::default() };
    let directive = directive(&sample(), &options);
    expect![[r#"
        <context>
        <document title="continuation">
        This session continues conversation conv-7, which ended because: Context window utilization exceeded 85% threshold.
        Do not start over. Continue where it stopped. The decisions and commitments below are verbatim and binding.
        </document>
        <document title="user intent">
        Sessions must survive a crash.
        </document>
        <document title="decision">
        Keep the WAL.
        Always.
        </document>
        <document title="decision">
        Use SQLite.
        </document>
        <document title="commitment">
        I will not touch the "v1" table.
        </document>
        <document title="open question">
        Should old sessions expire?
        </document>
        <document title="Port the store">
        status: in progress, the user agreed
        - [x] Write the schema
        - [ ] Migrate the data
        - [ ] Drop the cache
        done when: All tests pass.
        </document>
        <document title="Document it">
        status: not started
        - [ ] Write the README
        </document>
        <omitted count="4" tokens="175" />
        </context>
        [
            "left out: directory \"/srv/app\"",
            "left out: file \"src/store.rs\"",
            "left out: command \"cargo test\"",
            "left out: variable \"RUST_LOG\"",
            "left out: the immediate actions",
            "left out: the summary",
            "left out: the session's state",
            "left out: 4 of 4 recent messages",
        ]"#]].assert_eq(&format!("{}{:#?}", directive.text, directive.warnings));
}
