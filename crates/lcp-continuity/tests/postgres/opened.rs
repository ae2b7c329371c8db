//! Opening a store, and calling it from different threads and runtimes.

use std::net::TcpListener;
use std::time::Duration;

use lcp_continuity::store::{Error, PostgresOptions, PostgresStore, Store};
use lcp_testkit::Postgres;
use tokio::runtime::Builder;

use crate::support::{Direct, MINUTE, Schema, begun, handoff, message, window};

fn reason(url: &str, options: &PostgresOptions) -> String {
    match PostgresStore::open_with(url, options).unwrap_err() {
        Error::Io(reason) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn store_works_inside_any_runtime() {
    let Some(schema) = Schema::new() else { return };
    let work = |id: &str| {
        let store = schema.open();
        let lease = begun(&store, id);
        store.append(&lease, &[message("one")], None).unwrap();
        store.commit(&lease, &handoff(&format!("h {id}"))).unwrap();
        store.messages(id, 0, 9).unwrap().len()
    };
    // This runtime has no I/O drivers, so the store must bring its own.
    let current = Builder::new_current_thread().build().unwrap();
    assert_eq!(current.block_on(async { work("current") }), 1);
    let many = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    assert_eq!(many.block_on(async { work("many") }), 1);
}

#[test]
fn task_with_exhausted_tokio_budget_is_served() {
    let Some(schema) = Schema::new() else { return };
    let store = schema.open();
    let current = Builder::new_current_thread().build().unwrap();
    current.block_on(async {
        for number in 0..200 {
            store.begin(&window(&number.to_string())).unwrap();
        }
    });
    assert!(store.conversation("199").is_ok());
}

#[test]
fn wrong_password_error_hides_the_password() {
    let Some(schema) = Schema::new() else { return };
    // A server from the environment may accept any password.
    let Some(server) = Postgres::shared().and_then(Postgres::own) else { return };
    let url =
        format!("postgres://lcp:hunter2@127.0.0.1:{}/postgres?sslmode=disable", server.port());
    let reason = reason(&url, &schema.options);
    assert!(reason.contains("password authentication failed"), "{reason}");
    assert!(reason.contains("28P01"), "{reason}");
    assert!(reason.starts_with(&format!("lcp@127.0.0.1:{}/postgres: ", server.port())), "{reason}");
    assert!(!reason.contains("hunter2"), "{reason}");
}

#[test]
fn debug_shows_address_without_password() {
    let Some(schema) = Schema::new() else { return };
    let Some(server) = Postgres::shared().and_then(Postgres::own) else { return };
    let text = format!("{:?}", schema.open());
    assert!(text.contains(&format!("lcp@127.0.0.1:{}/postgres", server.port())), "{text}");
    assert!(!text.contains("secret"), "{text}");
}

#[test]
fn unreachable_server_error_names_the_address() {
    // The port is free again when the listener is dropped, so connections to it fail.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("postgres://u:hunter2@127.0.0.1:{port}/d");
    let reason = reason(&url, &PostgresOptions::default());
    let said = format!("u@127.0.0.1:{port}/d: error connecting to server");
    assert!(reason.starts_with(&said), "{reason}");
    assert!(!reason.contains("hunter2"), "{reason}");
}

#[test]
fn silent_server_times_out() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let url = format!("postgres://u:hunter2@127.0.0.1:{port}/d?sslmode=disable");
    let connect_timeout = Duration::from_millis(50);
    let options = PostgresOptions { connect_timeout, ..PostgresOptions::default() };
    let said = format!("u@127.0.0.1:{port}/d: the database did not answer in time");
    assert_eq!(reason(&url, &options), said);
}

#[test]
fn invalid_address_is_an_error() {
    for url in ["", "hunter2", "http://u:hunter2@h/d", "postgres://u:hunter2@h/d?colour=red"] {
        let reason = reason(url, &PostgresOptions::default());
        assert!(reason.starts_with("the address of the database"), "{reason}");
        assert!(!reason.contains("hunter2"), "{reason}");
    }
}

#[test]
fn invalid_schema_names_are_rejected() {
    for schema in [String::new(), "x".repeat(64), "a\nb".to_owned()] {
        let options = PostgresOptions { schema, ..PostgresOptions::default() };
        let error = PostgresStore::open_with("postgres://u@h/d", &options).unwrap_err();
        assert_eq!(error.code(), "bad_id");
    }
}

#[test]
fn read_only_session_reads_but_cannot_write() {
    let Some(mut schema) = Schema::new() else { return };
    begun(&schema.open(), "a");
    schema.set("options=-c%20default_transaction_read_only%3Don");
    let store = schema.open();
    assert!(store.conversation("a").is_ok());
    assert_eq!(store.begin(&window("b")).unwrap_err(), Error::ReadOnly);
    assert_eq!(store.expire().unwrap_err(), Error::ReadOnly);
}

/// The error is a missing permission, not a store that cannot be written.
#[test]
fn missing_permission_is_reported() {
    let Some(schema) = Schema::new() else { return };
    // No role is created on a server from the environment.
    if Postgres::shared().and_then(Postgres::own).is_none() {
        return;
    }
    schema.open();
    Direct::to(&schema.url).execute("CREATE ROLE guest LOGIN PASSWORD 'hunter2'");
    let (_, place) = schema.url.split_once('@').unwrap();
    let url = format!("postgres://guest:hunter2@{place}");
    let to_make = reason(&url, &PostgresOptions::default());
    assert_eq!(to_make, "permission denied for database postgres (SQLSTATE 42501)");
    let to_use = reason(&url, &schema.options);
    assert!(to_use.starts_with("permission denied for schema"), "{to_use}");
}

#[test]
fn locked_table_gives_busy_error() {
    let Some(mut schema) = Schema::new() else { return };
    schema.options.statement_timeout = Duration::from_millis(100);
    let store = schema.open();
    let lease = begun(&store, "a");
    let name = schema.quoted();
    let other = Direct::to(&schema.url);
    other.execute(&format!("BEGIN; LOCK TABLE {name}.conversations IN EXCLUSIVE MODE"));
    assert_eq!(store.append(&lease, &[message("one")], None).unwrap_err(), Error::Busy);
    assert_eq!(store.lease("a", "holder", MINUTE).unwrap_err(), Error::Busy);
    // A reader does not wait.
    assert!(store.conversation("a").is_ok());
    other.execute("COMMIT");
    assert_eq!(store.append(&lease, &[message("one")], None).unwrap(), 1);
}
