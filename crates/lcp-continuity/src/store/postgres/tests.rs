//! Tests of private functions: addresses, and the classes of errors.

use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;

use super::PostgresOptions;
use super::address::Address;
use super::error::{Class, class};
use crate::store::error::Result;

fn parse(url: &str) -> Result<Address> {
    Address::parse(url, &PostgresOptions::default())
}

#[test]
fn url_sslmode_sets_ssl_mode() {
    let mode = |url: &str| parse(url).unwrap().config.get_ssl_mode();
    assert_eq!(mode("postgres://u@h/d"), SslMode::Prefer);
    assert_eq!(mode("postgres://u@h/d?sslmode=disable"), SslMode::Disable);
    assert_eq!(mode("postgres://u@h/d?sslmode=require"), SslMode::Require);
    let url = "postgresql://u@h/d?connect_timeout=1&sslmode=verify-full";
    assert_eq!(mode(url), SslMode::Require);
    assert_eq!(mode("host=h user=u sslmode=verify-ca"), SslMode::Require);
}

#[test]
fn locations_and_errors_hide_passwords() {
    let location = parse("postgres://u:hunter2@h:1,i:2/d").unwrap().location();
    assert_eq!(location, "u@h,i:1,2/d");
    assert_eq!(parse("host=h user=u password=hunter2").unwrap().location(), "u@h/u");
    for url in [
        "postgres://u:hunter2@h/d?hunter2=1", "postgres://u:hunter2@h:port/d",
        "postgres://u:hunter2@/d?x", "password=hunter2", "hunter2",
    ] {
        let error = parse(url).err().unwrap().to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
}

#[test]
fn sql_states_map_to_error_classes() {
    for (code, expected) in [
        ("53100", Class::Full),
        ("55P03", Class::Conflict),
        ("40001", Class::Conflict),
        ("40P01", Class::Conflict),
        ("23505", Class::Conflict),
        ("57014", Class::Busy),
        ("42501", Class::Other),
        ("25006", Class::ReadOnly),
        ("XX001", Class::Damaged),
        ("57P01", Class::Broken),
        ("08006", Class::Broken),
        ("28P01", Class::Other),
    ] {
        assert_eq!(class(&SqlState::from_code(code)), expected, "{code}");
    }
}
