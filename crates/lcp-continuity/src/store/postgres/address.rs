//! Where a database is, and how it is reached.

use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::PostgresOptions;
use crate::store::error::{Error, Result};

/// A server, a database on it, and who asks.
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) root_certificate: Option<PathBuf>,
}

impl Address {
    pub(super) fn parse(url: &str, options: &PostgresOptions) -> Result<Self> {
        // What the parser says is not passed on: it may quote a part of the password.
        let mut config: Config = plain(url).parse().map_err(|_| Error::Io {
            reason: "the address of the database is not understood: write \
                     postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=require, with % and two \
                     digits for special characters"
                .to_owned(),
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            let reason = "the address of the database has no host".to_owned();
            return Err(Error::Io { reason });
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(options.connect_timeout);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(options.statement_timeout);
        }
        if config.get_application_name().is_none() {
            config.application_name("lcp-continuity");
        }
        Ok(Self { config, root_certificate: options.root_certificate.clone() })
    }

    pub(super) fn wants_tls(&self) -> bool {
        self.config.get_ssl_mode() != SslMode::Disable
    }

    /// In words, without the password.
    pub(super) fn place(&self) -> String {
        let hosts = self.config.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(folder) => folder.display().to_string(),
        });
        let numbers = self.config.get_hostaddrs().iter().map(ToString::to_string);
        let hosts: Vec<String> = hosts.chain(numbers).collect();
        let ports: Vec<String> = self.config.get_ports().iter().map(u16::to_string).collect();
        let ports = if ports.is_empty() { String::new() } else { format!(":{}", ports.join(",")) };
        let user = self.config.get_user().unwrap_or_default();
        let database = self.config.get_dbname().unwrap_or(user);
        format!("{user}@{}{ports}/{database}", hosts.join(","))
    }
}

/// The address, in the words of the library: for it, `require` alone is TLS, and what
/// checks the certificate is another matter. Here it is checked always.
fn plain(url: &str) -> String {
    let is_url = url.starts_with("postgres://") || url.starts_with("postgresql://");
    let (separator, (head, tail)) = if is_url {
        let Some((before, options)) = url.rsplit_once('?') else { return url.to_owned() };
        ("&", (format!("{before}?"), options))
    } else {
        (" ", (String::new(), url))
    };
    let one = |option| match option {
        "sslmode=verify-ca" | "sslmode=verify-full" => "sslmode=require",
        other => other,
    };
    let tail: Vec<&str> = tail.split(separator).map(one).collect();
    head + &tail.join(separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Address> {
        Address::parse(url, &PostgresOptions::default())
    }

    #[test]
    fn modes_of_tls_are_honoured() {
        let mode = |url: &str| parse(url).unwrap().config.get_ssl_mode();
        assert_eq!(mode("postgres://u@h/d"), SslMode::Prefer);
        assert_eq!(mode("postgres://u@h/d?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("postgres://u@h/d?sslmode=require"), SslMode::Require);
        let url = "postgresql://u@h/d?connect_timeout=1&sslmode=verify-full";
        assert_eq!(mode(url), SslMode::Require);
        assert_eq!(mode("host=h user=u sslmode=verify-ca"), SslMode::Require);
    }

    #[test]
    fn no_address_is_told_with_its_password() {
        let place = parse("postgres://u:hunter2@h:1,i:2/d").unwrap().place();
        assert_eq!(place, "u@h,i:1,2/d");
        assert_eq!(parse("host=h user=u password=hunter2").unwrap().place(), "u@h/u");
        for url in [
            "postgres://u:hunter2@h/d?hunter2=1", "postgres://u:hunter2@h:port/d",
            "postgres://u:hunter2@/d?x", "password=hunter2", "hunter2",
        ] {
            let error = parse(url).err().unwrap().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
