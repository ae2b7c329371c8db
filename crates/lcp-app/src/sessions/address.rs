//! Addresses of stores: paths and PostgreSQL addresses.

use crate::error::{Error, ErrorKind, Result};

/// Returns whether the name of a store is a PostgreSQL address.
pub(super) fn is_address(store: &str) -> bool {
    store.starts_with("postgres://") || store.starts_with("postgresql://")
}

/// Checks that the name of a store is a path or a PostgreSQL address.
///
/// # Errors
///
/// Returns an error for another kind of address, which would silently become a file name. The error
/// does not repeat it, because it may contain a password.
pub(super) fn check(store: &str) -> Result {
    let is_path = !store.trim().is_empty()
        && store != ":memory:"
        && !store.contains("://")
        && !is_parameters(store);
    if is_path || is_address(store) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Usage, "the store must be a path or a PostgreSQL address")
        .with_hint("pass a path or postgres://…"))
}

/// Returns whether a name is an address in the form `host=… user=…`.
fn is_parameters(store: &str) -> bool {
    let mut words = store.split_whitespace();
    let is_path = store.contains(['/', '\\']);
    store.contains('=')
        && store.contains(char::is_whitespace)
        && (!is_path || words.all(|word| word.contains('=')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_postgres_addresses_are_accepted() {
        for store in [
            "sessions.sqlite",
            "/var/lib/my sessions.sqlite",
            "C:\\lcp\\sessions.sqlite",
            "a=b.sqlite",
            "./a = b.sqlite",
            "memory",
            "postgres://user:word@host/name",
            "postgresql:///name?host=/run/postgresql",
        ] {
            assert!(check(store).is_ok(), "{store}");
        }
    }

    #[test]
    fn invalid_addresses_are_rejected_without_leaking_secrets() {
        for store in [
            "", "  ", ":memory:", "mysql://user:secret@host/name",
            "Postgres://user:secret@host/name", " postgres://user:secret@host/name",
            "sqlite://secret.db", "host=localhost password=secret",
            "host=/run/postgresql password=secret", "host = localhost password = secret",
        ] {
            let failure = check(store).unwrap_err();
            let said = format!("{failure:?}");
            assert!(said.contains("Usage") && said.contains("postgres://…"), "{said}");
            assert!(!said.contains("secret"), "{said}");
        }
    }
}
