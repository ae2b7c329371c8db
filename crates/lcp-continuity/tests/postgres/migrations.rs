//! Schemas: created once, and left alone if they are not a store's.

use std::sync::Barrier;
use std::thread;

use lcp_continuity::store::{Error, PostgresStore, Store};

use crate::support::{Direct, Schema, begun, message, window};

fn refused(schema: &Schema) -> Error {
    PostgresStore::open_with(&schema.url, &schema.options).unwrap_err()
}

#[test]
fn eight_stores_opened_concurrently_create_one_schema() {
    let Some(schema) = Schema::new() else { return };
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for number in 0..8 {
            let (schema, start) = (&schema, &start);
            scope.spawn(move || {
                start.wait();
                schema.open().begin(&window(&number.to_string())).unwrap();
            });
        }
    });
    let store = schema.open();
    assert!((0..8).all(|number: u32| store.conversation(&number.to_string()).is_ok()));
}

#[test]
fn newer_store_is_rejected_unchanged() {
    let Some(schema) = Schema::new() else { return };
    begun(&schema.open(), "a");
    schema.execute("UPDATE lcp_continuity_version SET version = 2");
    assert_eq!(refused(&schema), Error::TooNew { found: 2, known: 1 });
    schema.execute("UPDATE lcp_continuity_version SET version = 1");
    assert!(schema.open().conversation("a").is_ok());
}

#[test]
fn foreign_schema_is_rejected_unchanged() {
    let Some(schema) = Schema::new() else { return };
    let name = schema.quoted();
    let direct = Direct::to(&schema.url);
    direct.execute(&format!("CREATE SCHEMA {name}; CREATE TABLE {name}.messages (text text)"));
    assert!(matches!(refused(&schema), Error::ForeignSchema { .. }));
    let sql = format!("CREATE TABLE {name}.lcp_continuity_version (version text)");
    direct.execute(&sql);
    assert!(matches!(refused(&schema), Error::ForeignSchema { .. }));
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = ";
    let tables = format!("{tables}'{}'", schema.options.schema);
    assert_eq!(direct.number(&tables), 2);
}

#[test]
fn empty_schema_is_used() {
    let Some(schema) = Schema::new() else { return };
    Direct::to(&schema.url).execute(&format!("CREATE SCHEMA {}", schema.quoted()));
    begun(&schema.open(), "a");
}

#[test]
fn missing_table_is_reported_as_damage() {
    let Some(schema) = Schema::new() else { return };
    drop(schema.open());
    schema.execute("DROP TABLE contents");
    let error = refused(&schema);
    assert!(matches!(&error, Error::Damaged(reason) if reason.contains("contents")), "{error}");
}

#[test]
fn changed_body_is_reported_as_damage() {
    let Some(schema) = Schema::new() else { return };
    let store = schema.open();
    let lease = begun(&store, "a");
    store.append(&lease, &[message("one"), message("two")], None).unwrap();
    store.commit(&lease, &crate::support::handoff("h")).unwrap();
    schema.execute("UPDATE contents SET body = 'eins' WHERE body = 'one'");
    schema.execute("UPDATE handoffs SET pack = 'eins'");
    let error = store.messages("a", 0, 9).unwrap_err();
    assert!(matches!(&error, Error::Damaged(reason) if reason.contains("message 0")), "{error}");
    assert_eq!(store.messages("a", 1, 9).unwrap().len(), 1);
    assert_eq!(store.handoff("h").unwrap_err().code(), "damaged");
    assert_eq!(store.claim("h", "c", crate::support::MINUTE).unwrap_err().code(), "damaged");
    schema.execute(
        "DELETE FROM contents WHERE body = 'two'; DELETE FROM messages WHERE position = 0",
    );
    assert_eq!(store.messages("a", 1, 9).unwrap_err().code(), "damaged");
    assert_eq!(store.messages("a", 0, 1).unwrap_err().code(), "damaged");
}
