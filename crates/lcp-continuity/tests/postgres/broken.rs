//! Connections that break.

use lcp_continuity::store::{Error, PostgresStore, Store};

use crate::support::{Direct, MINUTE, Schema, begun, handoff, message, window};

/// Opens a store whose database sessions have a name, by which they can be ended.
fn named(schema: &mut Schema, name: &str) -> PostgresStore {
    schema.set(&format!("application_name={name}"));
    schema.options.pool_size = 1;
    schema.open()
}

/// Ends the sessions with that name, like an administrator.
fn end(direct: &Direct, name: &str, more: &str) -> i64 {
    direct.number(&format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
         WHERE application_name = '{name}' AND pid <> pg_backend_pid() {more}"
    ))
}

#[test]
fn terminated_session_is_replaced() {
    let Some(mut schema) = Schema::new() else { return };
    let direct = Direct::to(&schema.url);
    let store = named(&mut schema, "lcp-ended");
    let lease = begun(&store, "a");
    let handoff = handoff("h");
    store.commit(&lease, &handoff).unwrap();
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lcp-ended' \
                    AND pid <> pg_backend_pid()";
    let again = |work: &dyn Fn()| {
        assert_eq!(end(&direct, "lcp-ended", ""), 1);
        // A session takes some time to end, and must not be counted again.
        while direct.number(sessions) > 0 {
            std::thread::yield_now();
        }
        work();
    };
    again(&|| drop(store.begin(&window("a")).unwrap()));
    again(&|| drop(store.commit(&lease, &handoff).unwrap()));
    again(&|| drop(store.claim("h", "claimant", MINUTE).unwrap()));
    again(&|| drop(store.messages("a", 0, 9).unwrap()));
    let claim = store.claim("h", "claimant", MINUTE).unwrap();
    again(&|| drop(store.resume(&claim, &window("b")).unwrap()));
    again(&|| drop(store.fork("a", 0, "c").unwrap()));
}

/// Calls `work` while another session locks the row of the conversation. Ends the session of `work`
/// when it waits there, then releases the lock.
fn cut_off<T: Send>(schema: &Schema, name: &str, work: impl FnOnce() -> T + Send) -> T {
    let (holder, watcher) = (Direct::to(&schema.url), Direct::to(&schema.url));
    let table = schema.quoted();
    holder.execute(&format!("BEGIN; SELECT FROM {table}.conversations FOR UPDATE"));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(work);
        while end(&watcher, name, "AND wait_event_type = 'Lock'") == 0 {
            std::thread::yield_now();
        }
        holder.execute("COMMIT");
        waiting.join().unwrap()
    })
}

#[test]
fn interrupted_commit_is_retried() {
    let Some(mut schema) = Schema::new() else { return };
    let store = named(&mut schema, "lcp-commit");
    let lease = begun(&store, "a");
    // The observing sessions must not be ended.
    schema.url = schema.url.replace("lcp-commit", "lcp-other");
    let record = cut_off(&schema, "lcp-commit", || store.commit(&lease, &handoff("h"))).unwrap();
    assert_eq!(store.handoff("h").unwrap(), record);
}

#[test]
fn interrupted_append_is_not_retried() {
    let Some(mut schema) = Schema::new() else { return };
    let store = named(&mut schema, "lcp-append");
    let lease = begun(&store, "a");
    schema.url = schema.url.replace("lcp-append", "lcp-other");
    let append = || store.append(&lease, &[message("one")], None);
    let error = cut_off(&schema, "lcp-append", append).unwrap_err();
    assert!(matches!(error, Error::Io(_)), "{error}");
    assert_eq!(store.conversation("a").unwrap().messages, 0);
    assert_eq!(store.append(&lease, &[message("one")], None).unwrap(), 1);
}
