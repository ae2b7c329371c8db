//! Creation and verification of the tables.

use deadpool_postgres::Object;
use tokio_postgres::GenericClient;

use super::error::Failure;
use super::pool::Database;
use super::statements::quote_identifier;
use crate::store::error::{Error, Result};

/// The version of [`TABLES_SQL`].
const VERSION: u32 = 1;
/// The name of the table that marks a schema as ours and contains its version.
const MARK: &str = "lcp_continuity_version";
/// The longest name that PostgreSQL does not truncate.
const NAME_BYTES_MAX: usize = 63;
/// The advisory lock for creating the tables, shared by all schemas of the database.
const LOCK: i64 = 0x6c63_705f_636f_6e74;

const TABLES_SQL: &str = "
CREATE TABLE lcp_continuity_version (version bigint NOT NULL);

CREATE TABLE conversations (
    id text COLLATE \"C\" PRIMARY KEY,
    window_tokens bigint NOT NULL,
    output_reserve_tokens bigint NOT NULL,
    parent text COLLATE \"C\",
    parent_messages bigint,
    origin text COLLATE \"C\",
    continued_as text COLLATE \"C\",
    epoch bigint NOT NULL,
    fence bigint NOT NULL DEFAULT 0,
    holder text COLLATE \"C\",
    held_until bigint,
    messages bigint NOT NULL,
    status bytea,
    created bigint NOT NULL,
    active bigint NOT NULL,
    changes bigint NOT NULL DEFAULT 0,
    CHECK ((parent IS NULL) = (parent_messages IS NULL)),
    CHECK ((holder IS NULL) = (held_until IS NULL))
);
COMMENT ON COLUMN conversations.changes IS 'rises with every commit and resume';

CREATE TABLE contents (
    hash bytea PRIMARY KEY,
    body bytea NOT NULL
);
COMMENT ON COLUMN contents.hash IS 'BLAKE3 of the body';

CREATE TABLE messages (
    conversation text COLLATE \"C\" NOT NULL,
    position bigint NOT NULL,
    epoch bigint NOT NULL,
    hash bytea NOT NULL,
    tokens bigint NOT NULL,
    recorded bigint NOT NULL,
    PRIMARY KEY (conversation, position)
);

CREATE TABLE handoffs (
    id text COLLATE \"C\" PRIMARY KEY,
    serial bigint GENERATED ALWAYS AS IDENTITY,
    conversation text COLLATE \"C\" NOT NULL,
    epoch bigint NOT NULL,
    previous text COLLATE \"C\",
    messages bigint NOT NULL,
    hash bytea NOT NULL,
    pack bytea,
    claimant text COLLATE \"C\",
    claimed_until bigint,
    fence bigint NOT NULL DEFAULT 0,
    resumed_into text COLLATE \"C\",
    superseded_by text COLLATE \"C\",
    created bigint NOT NULL,
    expires bigint NOT NULL,
    CHECK ((claimant IS NULL) = (claimed_until IS NULL))
);
COMMENT ON COLUMN handoffs.pack IS 'null once it was dropped';
CREATE INDEX handoffs_of_conversation ON handoffs (conversation, serial);
";

const TABLES: [&str; 5] = [MARK, "conversations", "contents", "messages", "handoffs"];

pub(super) fn check_name(schema: &str) -> Result<()> {
    let fits = (1..=NAME_BYTES_MAX).contains(&schema.len());
    if fits && !schema.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Error::BadId { id: schema.chars().take(32).collect(), max: NAME_BYTES_MAX })
}

/// Creates the tables of `schema` if they do not exist.
pub(super) async fn create(database: &Database, schema: &str) -> Result<()> {
    let mut client = None;
    let mut tries = 0..2;
    loop {
        let done =
            database.bounded(&mut client, async |client| try_to_create(client, schema).await);
        match done.await {
            // After a conflict another process has created the tables.
            Err(Failure::Conflict(_) | Failure::Broken(_)) if tries.next().is_some() => {}
            other => return other.map_err(Failure::into_error),
        }
    }
}

async fn try_to_create(client: &mut Object, schema: &str) -> Result<(), Failure> {
    if has_tables(&***client, schema).await? {
        return Ok(());
    }
    let transaction = client.transaction().await?;
    transaction.query("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    // Another process may have created the tables in the meantime.
    if has_tables(&*transaction, schema).await? {
        return Ok(());
    }
    let exists = "SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1";
    if transaction.query_opt(exists, &[&schema]).await?.is_none() {
        transaction.batch_execute(&format!("CREATE SCHEMA {}", quote_identifier(schema))).await?;
    }
    transaction.batch_execute(TABLES_SQL).await?;
    transaction.batch_execute(&format!("INSERT INTO {MARK} VALUES ({VERSION})")).await?;
    Ok(transaction.commit().await?)
}

/// Returns `true` if the schema has our tables and `false` if it has no tables. Other tables are an
/// error.
async fn has_tables(client: &impl GenericClient, schema: &str) -> Result<bool, Failure> {
    let sql = "SELECT current_setting('server_encoding'), \
               array(SELECT c.relname::text FROM pg_catalog.pg_class c \
                     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
                     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f'))";
    let row = client.query_one(sql, &[&schema]).await?;
    let (encoding, tables): (&str, Vec<&str>) = (row.try_get(0)?, row.try_get(1)?);
    if encoding != "UTF8" {
        let reason = format!("the database has the encoding {encoding}; create one in UTF8");
        return Err(Error::Io(reason).into());
    }
    let foreign = |reason: &str| Error::ForeignSchema {
        schema: schema.to_owned(),
        reason: reason.to_owned(),
    };
    if tables.is_empty() {
        return Ok(false);
    }
    if !tables.contains(&MARK) {
        return Err(foreign("it contains other tables").into());
    }
    let sql = format!("SELECT version FROM {}.{MARK}", quote_identifier(schema));
    let rows = client.query(sql.as_str(), &[]).await?;
    let [row] = rows.as_slice() else {
        return Err(foreign("it has no version, or more than one").into());
    };
    let version: i64 = row.try_get(0).map_err(|_| foreign("its version is not a number"))?;
    match u32::try_from(version) {
        Ok(VERSION) => {}
        Ok(found) if found > VERSION => {
            return Err(Error::TooNew { found, known: VERSION }.into());
        }
        _ => return Err(foreign("its version is invalid").into()),
    }
    match TABLES.iter().find(|table| !tables.contains(*table)) {
        Some(missing) => Err(Error::Damaged(format!("the table {missing} is missing")).into()),
        None => Ok(true),
    }
}
