//! A temporary PostgreSQL server for tests, which is removed however the tests end.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// The environment variable with the URL of a server that tests may use.
const GIVEN: &str = "LCP_TEST_POSTGRES";

/// The environment variable that makes a test fail if there is no server. Its value must be `1`.
const REQUIRED: &str = "LCP_REQUIRE_POSTGRES";

const USER: &str = "lcp";
const PASSWORD: &str = "not-a-secret";

/// The number of attempts to start a server. Another program may take the free port before the
/// server does.
const TRIES: u32 = 5;

/// Runs the server as long as standard input is open. The system closes standard input when the
/// parent process ends in any way. Then the script stops the server and removes the folder.
///
/// `$1` is the folder. The other arguments are the prefix that runs programs as another user. `BIN`
/// is the folder of the PostgreSQL programs.
const GUARD: &str = r#"
trap '' HUP INT TERM
folder=$1; shift
if "$@" "$BIN/pg_ctl" -D "$folder/data" -l "$folder/log" -w -t 60 start >/dev/null 2>&1; then
    echo started
    cat >/dev/null
fi
"$@" "$BIN/pg_ctl" -D "$folder/data" -m immediate -w -t 60 stop >/dev/null 2>&1
rm -rf "$folder"
"#;

/// A temporary server, on a free port of 127.0.0.1, in a temporary folder.
///
/// The server stops and its folder is removed when this value is dropped or the process ends.
/// `synchronous_commit` is off unless a session turns it on, so a commit that a client does not
/// require to be durable may be lost in a [`Self::crash`]. `fsync` is off, because only the server
/// crashes, not the machine.
///
/// Requires `initdb` and `pg_ctl`, in `PATH` or in `/usr/lib/postgresql/*/bin`. PostgreSQL refuses
/// to run as root. If the user is root, it runs as `postgres` or `nobody`.
#[derive(Debug)]
pub struct PostgresServer {
    folder: PathBuf,
    port: u16,
    programs: PathBuf,
    prefix: Vec<String>,
    /// The guard process. Its standard input is open as long as the server is needed.
    guard: Child,
}

/// A server for tests.
#[derive(Debug)]
pub enum Postgres {
    /// A server whose URL was given. It must not be stopped.
    External(String),
    /// A temporary server of this process.
    Own(PostgresServer),
}

impl Postgres {
    /// Returns the server of this process: the one in `LCP_TEST_POSTGRES`, or a temporary one that
    /// is started on the first call. If neither is available, prints the reason to standard error
    /// and returns `None`, or panics if `LCP_REQUIRE_POSTGRES` is `1`.
    #[must_use]
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Result<Postgres, String>> = OnceLock::new();
        let find = || match std::env::var(GIVEN) {
            Ok(url) => Ok(Self::External(url)),
            Err(_) => PostgresServer::start().map(Self::Own),
        };
        or_skip(SHARED.get_or_init(find).as_ref().map_err(String::as_str))
    }

    /// Returns the URL of the server.
    #[must_use]
    pub fn url(&self) -> String {
        match self {
            Self::External(url) => url.clone(),
            Self::Own(server) => server.url(),
        }
    }

    /// Returns the temporary server; `None` for an external one.
    #[must_use]
    pub fn own(&self) -> Option<&PostgresServer> {
        match self {
            Self::External(_) => None,
            Self::Own(server) => Some(server),
        }
    }
}

/// Returns the server, or prints why the test is skipped.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn or_skip<T>(server: Result<T, &str>) -> Option<T> {
    match server {
        Ok(server) => Some(server),
        Err(reason) => {
            let required = std::env::var(REQUIRED).is_ok_and(|value| value == "1");
            assert!(!required, "no PostgreSQL: {reason}");
            eprintln!("skipped: no PostgreSQL: {reason}");
            None
        }
    }
}

impl PostgresServer {
    /// Starts a temporary server.
    pub fn start() -> Result<Self, String> {
        let programs = programs().ok_or("initdb and pg_ctl were not found")?;
        let (prefix, user) = other_user()?;
        let mut reason = String::new();
        for _ in 0..TRIES {
            match Self::attempt(&programs, &prefix, user.as_deref()) {
                Ok(server) => return Ok(server),
                Err(why) => reason = why,
            }
        }
        Err(reason)
    }

    /// Starts a server for a test that must not share it. If that is not possible, behaves like
    /// [`Postgres::shared`].
    #[must_use]
    pub fn start_if_there() -> Option<Self> {
        let server = Self::start();
        or_skip(server.as_ref().map(drop).map_err(String::as_str))?;
        server.ok()
    }

    fn attempt(programs: &Path, prefix: &[String], user: Option<&str>) -> Result<Self, String> {
        let folder = tempfile::Builder::new().prefix("lcp-postgres-").tempdir().map_err(io)?;
        let (port, guard) = Self::launch(programs, prefix, user, folder.path())?;
        let (programs, prefix) = (programs.to_owned(), prefix.to_vec());
        // The guard will remove the folder.
        Ok(Self { folder: folder.keep(), port, programs, prefix, guard })
    }

    /// Creates a database in a folder and starts a server for it. Returns the port and the guard
    /// process.
    fn launch(
        programs: &Path,
        prefix: &[String],
        user: Option<&str>,
        folder: &Path,
    ) -> Result<(u16, Child), String> {
        fs::write(folder.join("password"), PASSWORD).map_err(io)?;
        if let Some(user) = user {
            run(Command::new("chown").arg("-R").arg(user).arg(folder))?;
        }
        let data = folder.join("data");
        let mut init = as_user(prefix, programs.join("initdb"));
        init.args([
            "--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync", "-U", USER,
        ]);
        init.arg(format!("--pwfile={}", folder.join("password").display()));
        run(init.arg("-D").arg(&data).current_dir(folder))?;

        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let port = port.map_err(io)?.port();
        let settings = format!(
            "listen_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = ''\n\
             max_connections = 500\nshared_buffers = 16MB\nsynchronous_commit = off\nfsync = off\n"
        );
        append_settings(&data, &settings)?;

        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD, "sh"]).arg(folder).args(prefix);
        guard.env("BIN", programs).current_dir(folder);
        guard.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // A signal from the terminal that stops the tests must not reach the guard, which has to
        // clean up.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut guard, 0);
        let mut guard = guard.spawn().map_err(io)?;
        let mut line = String::new();
        if let Some(output) = guard.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(io)?;
        }
        if line.trim() == "started" {
            return Ok((port, guard));
        }
        let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
        // Waiting also closes the standard input of the guard.
        guard.wait().map_err(io)?;
        Err(format!("the server did not start: {log}"))
    }

    /// Returns the URL of the server, with user and password and without TLS.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{}/postgres?sslmode=disable", self.port)
    }

    /// Returns the port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the data folder, which contains `postgresql.conf`.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Stops the server immediately, like a crash: it writes nothing more.
    pub fn crash(&self) -> Result<(), String> {
        self.control(&["-m", "immediate", "-w", "-t", "60", "stop"])
    }

    /// Starts the server again on the same port.
    pub fn restart(&self) -> Result<(), String> {
        let log = self.folder.join("log").display().to_string();
        self.control(&["-l", &log, "-w", "-t", "60", "start"])
    }

    /// Appends lines to `postgresql.conf` and restarts the server.
    pub fn configure(&self, settings: &str) -> Result<(), String> {
        append_settings(&self.data(), settings)?;
        self.crash()?;
        self.restart()
    }

    /// Installs a key and a certificate (PEM) and restarts the server. From then on it accepts TLS
    /// connections.
    pub fn use_tls(&self, key: &Path, certificate: &Path) -> Result<(), String> {
        for (from, setting) in [(key, "ssl_key_file"), (certificate, "ssl_cert_file")] {
            let to = self.data().join(setting);
            fs::copy(from, &to).map_err(io)?;
            // PostgreSQL rejects a key that other users may read.
            run(Command::new("chmod").arg("600").arg(&to))?;
            run(Command::new("chown").arg("--reference").arg(self.data()).arg(&to))?;
        }
        self.configure("ssl = on\nssl_key_file = 'ssl_key_file'\nssl_cert_file = 'ssl_cert_file'\n")
    }

    fn control(&self, arguments: &[&str]) -> Result<(), String> {
        let mut command = as_user(&self.prefix, self.programs.join("pg_ctl"));
        run(command.arg("-D").arg(self.data()).args(arguments).current_dir(&self.folder))
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // Waiting also closes the standard input of the guard, so it stops the server.
        self.guard.wait().ok();
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn io(error: io::Error) -> String {
    error.to_string()
}

fn append_settings(data: &Path, settings: &str) -> Result<(), String> {
    let mut file =
        fs::OpenOptions::new().append(true).open(data.join("postgresql.conf")).map_err(io)?;
    write!(file, "\n{settings}").map_err(io)
}

/// Returns the folder of the PostgreSQL programs: the first in `PATH`, or else the newest installed
/// version.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut installed: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|version| version.ok().map(|version| version.path()))
        .filter_map(|path| Some((path.file_name()?.to_str()?.parse().ok()?, path.join("bin"))))
        .collect();
    installed.sort_unstable();
    folders.extend(installed.into_iter().rev().map(|(_, path)| path));
    folders.into_iter().find(|path| path.join("initdb").exists() && path.join("pg_ctl").exists())
}

/// If the user is root, returns the command prefix that runs a program as another user, and that
/// user.
fn other_user() -> Result<(Vec<String>, Option<String>), String> {
    if id(&["-u"])? != "0" {
        return Ok((Vec::new(), None));
    }
    let user = ["postgres", "nobody"].into_iter().find(|user| id(&["-u", user]).is_ok());
    let user = user.ok_or("PostgreSQL refuses root, and there is no user postgres or nobody")?;
    let group = id(&["-g", user])?;
    let ways = [
        vec![
            "setpriv".into(),
            format!("--reuid={user}"),
            format!("--regid={group}"),
            "--clear-groups".into(),
            "--".into(),
        ],
        vec!["runuser".into(), "-u".into(), user.into(), "--".into()],
    ];
    let works = |way: &Vec<String>| run(&mut as_user(way, PathBuf::from("true"))).is_ok();
    let way = ways.into_iter().find(works);
    Ok((way.ok_or("neither setpriv nor runuser works")?, Some(user.to_owned())))
}

fn id(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("id").args(arguments).stderr(Stdio::null()).output();
    let output = output.map_err(|error| format!("id: {error}"))?;
    if !output.status.success() {
        return Err(format!("id: {}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn as_user(prefix: &[String], program: PathBuf) -> Command {
    match prefix {
        [] => Command::new(program),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            command
        }
    }
}

/// Runs a command without reading its output, which a server that it starts would keep open.
fn run(command: &mut Command) -> Result<(), String> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{}: {status}", command.get_program().display())),
        Err(error) => Err(format!("{}: {error}", command.get_program().display())),
    }
}

#[cfg(test)]
mod tests;
