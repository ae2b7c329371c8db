//! The address of a database, and TLS connections to it with rustls. The certificate of the server
//! is always verified.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::Config;
use tokio_postgres::config::Host;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::PostgresOptions;
use crate::store::error::{Error, Result};

/// A server, a database on it, and the user.
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) root_certificate: Option<PathBuf>,
}

impl Address {
    pub(super) fn parse(url: &str, options: &PostgresOptions) -> Result<Self> {
        // Do not include the error of the parser, because it may quote part of the password.
        let mut config: Config = plain(url).parse().map_err(|_| {
            Error::Io(
                "the address of the database is invalid; expected \
                     postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=require, with special \
                     characters percent-encoded"
                    .to_owned(),
            )
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            let reason = "the address of the database has no host".to_owned();
            return Err(Error::Io(reason));
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

    /// Formats the location of the server, without the password.
    pub(super) fn location(&self) -> String {
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

/// Replaces the `sslmode` values that the library does not know. It supports `require`, which means
/// TLS, and leaves certificate checks to the TLS connector. Our connector always makes them.
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

/// Creates a TLS connector that trusts the certificates in `roots` (PEM), or those that the system
/// trusts.
pub(super) fn tls_connector(roots: Option<&Path>) -> Result<MakeRustlsConnect> {
    let mut trusted = RootCertStore::empty();
    if let Some(path) = roots {
        for certificate in read_certificates(path)? {
            trusted.add(certificate).map_err(|error| unusable(path, &error))?;
        }
    } else {
        // Without any certificates, connecting to a server with TLS fails with an error that says
        // so.
        trusted.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Io(error.to_string()))?
        .with_root_certificates(trusted)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
        .map_err(|error| unusable(path, &error))?;
    if certificates.is_empty() {
        return Err(unusable(path, &"the file contains no certificate"));
    }
    Ok(certificates)
}

fn unusable(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::Io(format!("cannot use the certificates of {}: {reason}", path.display()))
}
