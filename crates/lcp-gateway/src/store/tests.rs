use std::collections::HashMap;
use std::path::Path;

use super::*;
use crate::request::{Api, Request};
use crate::rewrite::{Policy, rewrite};
use crate::usage::Usage;

const NOW: i64 = 2_000_000_000;

/// A request with a result that occurs twice.
fn body() -> String {
    let lines: Vec<_> =
        (0..80).map(|at| format!("line {at} of a file that is read twice\\n")).collect();
    let text = lines.concat();
    let call = |id: &str| {
        format!(
            r#"{{"role":"assistant","tool_calls":[{{"id":"{id}","function":{{"name":"read","arguments":"{{}}"}}}}]}},
               {{"role":"tool","tool_call_id":"{id}","content":"{text}"}}"#
        )
    };
    let (a, b) = (call("a"), call("b"));
    format!(r#"{{"model":"gpt-5","messages":[{{"role":"user","content":"go"}},{a},{b}]}}"#)
}

/// Edits a request as a gateway does. Returns the body that is sent.
fn send(store: &mut Store, body: &str, now: i64) -> sqlite::Result<Vec<u8>> {
    let request = Request::parse(Api::OpenAiChat, body.as_bytes()).unwrap();
    let originals = store.originals().clone();
    let edit = store.begin(now)?;
    let rewritten = rewrite(
        &request,
        &Policy {
            budget: u32::MAX,
            limit: u32::MAX,
            estimator: &lcp_tokens::HeuristicEstimator,
            decision: &|key| edit.decision(key),
            cached: &|hash| edit.cached(hash),
            cached_call: &|call| edit.cached_call(call),
            is_warm: &|key| edit.is_warm(key, &request.model),
            original: &|hash| originals.path(hash).display().to_string(),
            is_raw: &|_, _| false,
            order: &|_| Vec::new(),
            stored_count: &|_| None,
            store_count: &|_, _| {},
        },
    );
    let sent = rewritten.body.to_bytes();
    edit.check()?;
    edit.write_originals(&request, &rewritten)?;
    edit.commit(&request, &rewritten)?;
    Ok(sent)
}

/// Returns the stored decisions about the results of a request.
fn decisions(edit: &EditTransaction<'_>, request: &Request<'_>) -> HashMap<Key, Decision> {
    let keys = request.outline.results.iter().map(|result| result.key.clone());
    keys.filter_map(|key| edit.decision(&key).map(|decision| (key, decision))).collect()
}

fn open(folder: &Path) -> Store {
    Store::open(folder, 7).unwrap()
}

fn files(store: &Store) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(store.originals().folder()).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn state_of_a_call_is_that_of_its_newest_result() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    send(&mut store, &body(), NOW).unwrap();
    // OpenAI keeps prefixes for an hour, and two minutes are added.
    send(&mut store, &body().replacen("line 7 ", "line 8 ", 1), NOW + 1_000).unwrap();
    let mut states = |now: i64| ["a", "x"].map(|call| store.begin(now).unwrap().cached_call(call));
    assert_eq!(states(NOW + 3_721), [Cached::Warm, Cached::Unknown]);
    assert_eq!(states(NOW + 4_721), [Cached::Expired, Cached::Unknown]);
}

#[test]
fn decisions_survive_a_restart_and_are_shared() {
    let folder = tempfile::tempdir().unwrap();
    let (body, mut store) = (body(), open(folder.path()));
    let sent = send(&mut store, &body, NOW).unwrap();
    assert!(sent.len() < body.len());
    // Another gateway with the same store, and one after a restart.
    let mut other = open(folder.path());
    assert_eq!(send(&mut other, &body, NOW + 1).unwrap(), sent);
    drop(store);
    drop(other);
    assert_eq!(send(&mut open(folder.path()), &body, NOW + 2).unwrap(), sent);
}

#[test]
fn changes_of_another_gateway_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let body = body();
    let request = Request::parse(Api::OpenAiChat, body.as_bytes()).unwrap();
    let (mut store, other) = (open(folder.path()), open(folder.path()));
    send(&mut store, &body, NOW).unwrap();
    let stored = decisions(&store.begin(NOW).unwrap(), &request);
    assert_eq!(stored.len(), 2);
    // The same from memory.
    assert_eq!(decisions(&store.begin(NOW).unwrap(), &request), stored);
    other.connection.execute("UPDATE decisions SET replacement = 'other'", []).unwrap();
    let changed = decisions(&store.begin(NOW).unwrap(), &request);
    let text =
        |decision: &Decision| matches!(decision, Decision::Replace(it) if it.text() == "other");
    assert!(changed.len() == 2 && changed.values().all(text));
}

#[test]
fn original_is_private_complete_and_restored() {
    let folder = tempfile::tempdir().unwrap();
    let (body, mut store) = (body(), open(folder.path()));
    let sent = String::from_utf8(send(&mut store, &body, NOW).unwrap()).unwrap();
    let [file] = &files(&store)[..] else { panic!("{:?}", files(&store)) };
    assert!(sent.contains(file.to_str().unwrap()));
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.starts_with("line 0 of") && text.lines().count() == 80);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(file), 0o600);
        assert_eq!(mode(store.originals().folder()), 0o700);
        assert_eq!(mode(&folder.path().join(FILE)), 0o600);
    }
    std::fs::remove_file(file).unwrap();
    send(&mut store, &body, NOW + CHECK_SECONDS).unwrap();
    assert_eq!(std::fs::read_to_string(file).unwrap(), text);
}

#[test]
fn edit_without_its_original_fails() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    std::fs::remove_dir(store.originals().folder()).unwrap();
    std::fs::write(store.originals().folder(), "").unwrap();
    let error = send(&mut store, &body(), NOW).unwrap_err();
    assert!(error.to_string().contains("originals"), "{error}");
    // No decision was written.
    let body = body();
    let request = Request::parse(Api::OpenAiChat, body.as_bytes()).unwrap();
    let edit = store.begin(NOW).unwrap();
    assert_eq!(decisions(&edit, &request), HashMap::new());
}

#[test]
fn unused_decisions_and_originals_are_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let (body, mut store) = (body(), open(folder.path()));
    let now = i64::try_from(
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs(),
    )
    .unwrap();
    send(&mut store, &body, now).unwrap();
    let request = Request::parse(Api::OpenAiChat, body.as_bytes()).unwrap();
    for (days, is_there) in [(6, true), (8, false)] {
        store.delete_old(now + days * 86_400).unwrap();
        assert_eq!(decisions(&store.begin(now).unwrap(), &request).is_empty(), !is_there);
        assert_eq!(files(&store).is_empty(), !is_there);
    }
}

#[test]
fn decisions_stay_as_long_as_their_beginning_can_be_warm() {
    let folder = tempfile::tempdir().unwrap();
    let (body, mut store) = (body(), Store::open(folder.path(), 1).unwrap());
    let sent = send(&mut store, &body, NOW).unwrap();
    // A provider keeps a beginning for a day after the last one.
    send(&mut store, &body, NOW + 3_500).unwrap();
    let warm = NOW + 3_500 + 86_400;
    store.delete_old(warm).unwrap();
    store.originals().delete_before(warm);
    assert_eq!(send(&mut store, &body, warm).unwrap(), sent);
    assert_eq!(files(&store).len(), 1);
}

#[test]
fn beginnings_expire_and_are_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let text = body();
    send(&mut store, &text, NOW).unwrap();
    let hash = |store: &Store| -> Vec<Hash> {
        let mut query = store.connection.prepare("SELECT hash FROM beginnings").unwrap();
        query.query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let all = hash(&store);
    // The head, and five messages.
    assert_eq!(all.len(), 6);
    let state = |store: &mut Store, now| store.begin(now).unwrap().cached(&all[0]);
    // An hour, and two minutes more.
    assert_eq!(state(&mut store, NOW + 3_719), Cached::Warm);
    assert_eq!(state(&mut store, NOW + 3_721), Cached::Expired);
    // After its last use, a beginning is warm for an hour and a minute at least.
    for (sent, warm) in [(50, 3_719), (70, 3_789)] {
        send(&mut store, &text, NOW + sent).unwrap();
        assert_eq!(state(&mut store, NOW + warm), Cached::Warm);
        assert_eq!(state(&mut store, NOW + warm + 2), Cached::Expired);
    }
    assert_eq!(store.begin(NOW).unwrap().cached(&[7; 32]), Cached::Unknown);
    let request = Request::parse(Api::OpenAiChat, text.as_bytes()).unwrap();
    let results: Vec<_> = request.outline.results.iter().map(|it| it.key.clone()).collect();
    let is_warm = |store: &mut Store, now| {
        let edit = store.begin(now).unwrap();
        decisions(&edit, &request);
        results.iter().all(|key| edit.is_warm(key, "other") && !edit.is_warm(key, "gpt-5"))
    };
    assert!(is_warm(&mut store, NOW + 3_789) && !is_warm(&mut store, NOW + 3_791));
    let cached = CachedParts { beginnings: all.clone(), results: results.clone() };
    // A miss of another model says nothing about this one.
    store.expire(&CachedParts { beginnings: vec![[8; 32]], ..cached.clone() }, "x", NOW).unwrap();
    assert!(is_warm(&mut store, NOW));
    store.expire(&cached, "gpt-5", NOW).unwrap();
    assert_eq!(state(&mut store, NOW), Cached::Expired);
    assert!(!is_warm(&mut store, NOW));
}

#[test]
fn changed_decision_stays_warm() {
    let folder = tempfile::tempdir().unwrap();
    let (text, mut store) = (body(), open(folder.path()));
    send(&mut store, &text, NOW).unwrap();
    // The client clears the target of the reference, which is judged again.
    let first = text.find("\"content\":\"line").unwrap();
    let end = first + text[first..].find("\"}").unwrap();
    let cleared = format!("{}\"content\":\"cleared{}", &text[..first], &text[end..]);
    assert_eq!(send(&mut store, &cleared, NOW + 10).unwrap(), cleared.as_bytes());
    let request = Request::parse(Api::OpenAiChat, cleared.as_bytes()).unwrap();
    let key = &request.outline.results[1].key;
    for mut store in [store, open(folder.path())] {
        let edit = store.begin(NOW + 3_000).unwrap();
        assert_eq!(edit.decision(key), Some(Decision::Keep));
        assert!(edit.is_warm(key, "other"));
    }
}

#[test]
fn longer_time_of_a_beginning_stays() {
    let folder = tempfile::tempdir().unwrap();
    let day = body().replacen('{', "{\"prompt_cache_retention\":\"24h\",", 1);
    let mut store = open(folder.path());
    send(&mut store, &day, NOW).unwrap();
    // Another process does not know the time, and sends the same beginning for an hour.
    let mut other = open(folder.path());
    send(&mut other, &body(), NOW).unwrap();
    let mut query = other.connection.prepare("SELECT hash FROM beginnings").unwrap();
    let hashes: Vec<Hash> =
        query.query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    drop(query);
    let edit = other.begin(NOW + 10_000).unwrap();
    assert!(hashes.iter().all(|hash| edit.cached(hash) == Cached::Warm));
}

#[test]
fn stores_of_earlier_versions_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let old =
        DECISIONS.replace("    model TEXT NOT NULL,\n    expires INTEGER", "    used INTEGER");
    let to_1 = format!("DROP TABLE decisions; {old}; PRAGMA user_version = 1");
    for (version, changes) in [(2, "PRAGMA user_version = 2"), (1, &to_1)] {
        let mut store = open(folder.path());
        let known = Row { session: version.to_string(), ..Row::default() };
        store.add_usage(&known).unwrap();
        let before = store.usage().unwrap();
        store.connection.execute_batch("ALTER TABLE requests DROP COLUMN unedited").unwrap();
        store.connection.execute_batch(changes).unwrap();
        drop(store);
        let mut store = open(folder.path());
        assert_eq!(store.usage().unwrap(), before);
        send(&mut store, &body(), NOW).unwrap();
        store.delete_old(NOW).unwrap();
        assert_eq!(store.usage().unwrap(), []);
    }
}

#[test]
fn usage_of_requests_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let usage = Usage { input: 1, written: 2, written_hour: 3, read: 4, output: 5 };
    let known = Row {
        time: NOW,
        session: "s".into(),
        model: "m".into(),
        usage: Some(usage),
        saved_tokens: (6, 7),
        broken_tokens: 8,
        micros: 9,
        edits: vec!["cold".into(), "cold".into()],
        unedited: None,
    };
    let unread = Row { time: NOW + 1, usage: None, edits: Vec::new(), ..known.clone() };
    let failed = Row { unedited: Some(Unedited::Failed), ..unread.clone() };
    for row in [&known, &unread, &failed] {
        store.add_usage(row).unwrap();
    }
    assert_eq!(store.usage().unwrap(), [known, unread, failed]);
    store.delete_old(NOW + 8 * 86_400).unwrap();
    assert_eq!(store.usage().unwrap(), []);
}
