//! The gateway as its users start it: alone, and with an agent.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use lcp_gateway::Api;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::Value;

use crate::command::{LCP, Project, stderr};
use crate::gateway_histories::{Step, lines, messages, request};
use crate::gateway_model::{READS, anthropic, openai, provider_for_agents};
use crate::gateway_upstream::{Message, Provider, send};

pub(crate) fn project() -> Project {
    LCP.project("[gateway]\nbudget = 8000\n")
}

/// Starts a gateway with these environment variables. Returns it with its URL.
pub(crate) fn start(
    project: &Project,
    provider: &str,
    data: &str,
    variables: &[(&str, &str)],
) -> (Child, String) {
    let arguments = ["proxy", "--listen", "127.0.0.1:0", "--upstream", provider, "--data", data];
    let mut command = LCP.command(&project.path(""), &arguments);
    command.envs(variables.iter().copied());
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim_end().strip_prefix("serving on ").unwrap_or_else(|| panic!("{line}"));
    (child, url.to_owned())
}

fn session() -> Vec<Step> {
    let mut steps = vec![Step::Turn("Read the files.".into())];
    steps.extend((0..16).map(|at| {
        let start = if at % 4 == 3 { 0 } else { at * 60 };
        Step::Call { input: "a.txt".into(), output: lines(0, start, start + 60) }
    }));
    steps
}

/// Returns the bodies that a provider received. The data are in the folder `name`.
fn bodies(provider: &Provider, name: &str) -> Vec<String> {
    let bodies = provider.requests().into_iter().map(|request| request.body);
    bodies.map(|body| String::from_utf8(body).unwrap().replace(name, "DATA")).collect()
}

#[test]
fn killed_gateway_repeats_its_decisions() {
    let (project, steps) = (project(), session());
    let (provider, other) = (Provider::strict(), Provider::strict());
    let (mut gateway, url) = start(&project, &provider.url, "one", &[]);
    let (mut killed, mut killed_url) = start(&project, &other.url, "two", &[]);
    for end in 1..=steps.len() {
        let body = request(Api::Anthropic, &steps[..end]);
        for url in [&url, &killed_url] {
            assert_eq!(send(url, "/v1/messages", &[], &body).status(), 200);
        }
        killed.kill().unwrap();
        killed.wait().unwrap();
        (killed, killed_url) = start(&project, &other.url, "two", &[]);
    }
    // The gateway records a request when its response has ended.
    let stats = || project.json(&["proxy", "stats", "--json", "--data", "one"]);
    while stats()["total"]["requests"] != steps.len() {
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert_eq!(gateway.try_wait().unwrap(), None);
    }
    for gateway in [&mut gateway, &mut killed] {
        gateway.kill().unwrap();
        gateway.wait().unwrap();
    }
    let sent = bodies(&provider, "/one/");
    assert_eq!(sent, bodies(&other, "/two/"));
    assert!(sent.last().unwrap().len() < request(Api::Anthropic, &steps).len() / 2);
    let stats = stats();
    assert!(stats["total"]["edits"]["over_budget"].as_u64().unwrap() > 0, "{stats}");
    let table = project.stdout_of(&["proxy", "stats", "--data", "one"]);
    assert!(table.contains("Time to edit a request: "), "{table}");
}

#[test]
fn https_proxy_of_the_environment_is_used() {
    let (project, listener) = (project(), TcpListener::bind("127.0.0.1:0").unwrap());
    let proxy = format!("http://user:secret@{}", listener.local_addr().unwrap());
    let seen = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        // The type of the first record of TLS, its version and its length, and then the record.
        let mut record = [0; 5];
        reader.read_exact(&mut record).unwrap();
        let mut hello = vec![0; usize::from(u16::from_be_bytes([record[3], record[4]]))];
        reader.read_exact(&mut hello).unwrap();
        (head, record[0], hello)
    });
    let variables = [("HTTPS_PROXY", proxy.as_str()), ("NO_PROXY", ""), ("no_proxy", "")];
    let (mut gateway, url) = start(&project, "https://provider.example", "data", &variables);
    let body = request(Api::Anthropic, &[Step::Turn("hello".into())]);
    let response = send(&url, "/v1/messages", &[("x-api-key", "sk-secret")], &body);
    // The proxy has closed the connection.
    assert_eq!(response.status(), 502);
    let (head, kind, hello) = seen.join().unwrap();
    assert!(head.starts_with("CONNECT provider.example:443 HTTP/1.1\r\n"), "{head}");
    // user:secret
    assert!(head.to_lowercase().contains("proxy-authorization: basic dxnlcjpzzwnyzxq="), "{head}");
    assert!(!head.contains("sk-secret"));
    assert_eq!(kind, 22);
    assert!(hello.windows(16).any(|part| part == b"provider.example"));
    gateway.kill().unwrap();
    gateway.wait().unwrap();
}

/// The certificate of `localhost`, its key, and the authority that signed it. OpenSSL generated them,
/// only for tests. They expire in 2126.
const CERTIFICATE: &[u8] = include_bytes!("../tls/localhost.pem");
const KEY: &[u8] = include_bytes!("../tls/localhost.key");

/// Starts a server that speaks TLS, and passes requests to a provider. Returns its URL.
fn start_tls(provider: &str) -> String {
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE).unwrap();
    let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let provider = provider.strip_prefix("http://").unwrap().to_owned();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut client = rustls::StreamOwned::new(connection, stream);
            let mut request = Vec::new();
            let mut part = [0; 4096];
            // The test sends a request without spaces, which is complete with its last brackets.
            while !request.ends_with(b"]}") {
                match client.read(&mut part) {
                    Ok(read) if read > 0 => request.extend_from_slice(&part[..read]),
                    _ => break,
                }
            }
            if !request.is_empty() {
                let mut provider = TcpStream::connect(&provider).unwrap();
                provider.write_all(&request).unwrap();
                let read = provider.read(&mut part).unwrap();
                client.write_all(&part[..read]).unwrap();
            }
        }
    });
    url
}

#[test]
fn providers_need_a_certificate_that_the_system_trusts() {
    let (project, provider) = (LCP.project(""), Provider::strict());
    let url = start_tls(&provider.url);
    let authorities = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls");
    let body = br#"{"model":"claude-x","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}"#;
    for (name, status) in [("other.pem", 502), ("authority.pem", 200)] {
        let trusted = authorities.join(name);
        let variables = [("SSL_CERT_FILE", trusted.to_str().unwrap()), ("NO_PROXY", "localhost")];
        let (mut gateway, url) = start(&project, &url, "data", &variables);
        let response = send(&url, "/v1/messages", &[("x-api-key", "sk-secret")], body);
        assert_eq!(response.status(), status, "{}", String::from_utf8_lossy(&response.body));
        gateway.kill().unwrap();
        gateway.wait().unwrap();
        assert_eq!(provider.requests().len(), usize::from(status == 200));
    }
    assert_eq!(provider.requests()[0].body, body);
}

/// Runs a shell with a gateway.
#[cfg(unix)]
fn run(project: &Project, options: &[&str], script: &str) -> Output {
    let arguments = [&["run", "--data", "data"], options, &["--", "sh", "-c", script]].concat();
    LCP.command(&project.path(""), &arguments).output().unwrap()
}

#[cfg(unix)]
#[test]
fn agent_gets_the_gateway_and_its_exit_code_is_returned() {
    let (project, provider) = (project(), Provider::strict());
    let script = "printf '%s %s' $ANTHROPIC_BASE_URL $OPENAI_BASE_URL; exit 7";
    let output = run(&project, &["--upstream", &provider.url], script);
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    let urls = String::from_utf8(output.stdout).unwrap();
    let (anthropic, openai) = urls.split_once(' ').unwrap();
    assert!(anthropic.starts_with("http://127.0.0.1:"), "{urls}");
    assert_eq!(openai, format!("{anthropic}/v1"));
    // The gateway has ended with the agent.
    let address = anthropic.strip_prefix("http://").unwrap();
    assert!(TcpStream::connect(address).is_err());
    assert_eq!(run(&project, &[], "kill -9 $$").status.code(), Some(137));
    for (command, code) in [("no-such-agent", 127), ("./data", 126), ("--listen", 2)] {
        let arguments = ["run", "--data", "data", command];
        let failed = LCP.command(&project.path(""), &arguments).output().unwrap();
        assert_eq!(failed.status.code(), Some(code), "{}", stderr(&failed));
        assert!(stderr(&failed).contains(command) && stderr(&failed).contains("hint: "));
    }
}

#[cfg(unix)]
#[test]
fn figures_of_a_dry_run_say_that_they_are_computed() {
    let (project, provider) = (project(), Provider::strict());
    let stats = ["proxy", "stats", "--dry-run", "--data", "data"];
    let missing = LCP.command(&project.path(""), &stats).output().unwrap();
    assert_eq!(missing.status.code(), Some(1));
    assert!(stderr(&missing).contains("hint: run `lcp run --dry-run`"), "{}", stderr(&missing));
    let output = run(&project, &["--dry-run", "--upstream", &provider.url], "true");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(project.stdout_of(&stats).contains("\nDry run: all requests were sent unchanged"));
    let others = LCP.command(&project.path(""), &["proxy", "stats", "--data", "data"]).output();
    let message = stderr(&others.unwrap());
    assert!(message.contains("hint: pass --dry-run"), "{message}");
}

/// Returns the signals that end a process. `nohup` makes the tests and their processes ignore SIGHUP.
#[cfg(unix)]
fn signals() -> Vec<(&'static str, i32)> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(str::trim);
    let ignores_hangups = mask.is_some_and(|mask| u64::from_str_radix(mask, 16).unwrap() & 1 == 1);
    let hangup = (!ignores_hangups).then_some(("-HUP", 1));
    [("-TERM", 15), ("-INT", 2)].into_iter().chain(hangup).collect()
}

/// Returns the files of a folder with their contents.
#[cfg(unix)]
fn files(folder: &Path) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
    let mut files = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    files
}

#[cfg(unix)]
#[test]
fn configuration_of_an_agent_is_not_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let (project, provider) = (project(), Provider::strict());
    let home = project.path("home");
    for (path, text) in [
        (".claude/settings.json", "{\"env\":{\"A\":\"1\"}}"),
        (".codex/config.toml", "model = \"gpt-5\"\n"),
        (".config/opencode/opencode.json", "{\"permission\":{}}"),
    ] {
        let path = home.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let before = files(&home);
    let bin = project.path("bin");
    std::fs::create_dir_all(&bin).unwrap();
    for agent in ["claude", "codex", "opencode"] {
        let program = bin.join(agent);
        std::fs::write(&program, "#!/bin/sh\nexit 3\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let arguments = ["run", "--data", "data", "--upstream", &provider.url, agent];
        let mut command = LCP.command(&project.path(""), &arguments);
        let paths = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        command.env("HOME", &home).env("CODEX_HOME", home.join(".codex")).env("PATH", paths);
        assert_eq!(command.output().unwrap().status.code(), Some(3), "{agent}");
    }
    assert_eq!(files(&home), before);
}

#[cfg(unix)]
#[test]
fn signal_ends_the_agent() {
    let project = project();
    let arguments = ["run", "--data", "data", "--", "sh", "-c", "echo ready; exec sleep 60"];
    let (_keyboard, terminal) = crate::terminal::terminal();
    let calls = signals().into_iter().map(|(signal, _)| (Stdio::null(), signal));
    for (stdin, signal) in calls.chain([(Stdio::from(terminal), "-TERM")]) {
        let mut command = LCP.command(&project.path(""), &arguments);
        let mut child = command.stdin(stdin).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        let id = child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    }
}

#[cfg(unix)]
#[test]
fn signal_ends_the_gateway() {
    let (project, provider) = (project(), Provider::strict());
    for (signal, number) in signals() {
        let (mut gateway, _) = start(&project, &provider.url, "data", &[]);
        let id = gateway.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        assert_eq!(gateway.wait().unwrap().code(), Some(128 + number));
    }
}

/// `nohup` makes a process ignore SIGHUP.
#[cfg(unix)]
#[test]
fn gateway_that_ignores_hangups_goes_on() {
    let (project, provider) = (project(), Provider::strict());
    let script =
        "trap '' HUP; exec \"$0\" proxy --listen 127.0.0.1:0 --data data --upstream \"$1\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_lcp"), &provider.url]);
    command.current_dir(project.path("")).stdin(Stdio::null()).stdout(Stdio::null());
    let mut gateway = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(gateway.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim_end().strip_prefix("serving on ").unwrap();
    let id = gateway.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    assert_eq!(send(url, "/v1/messages", &[], b"{}").status(), 400);
    gateway.kill().unwrap();
    gateway.wait().unwrap();
}

#[test]
fn budget_of_zero_is_refused() {
    for (settings, arguments, message) in [
        ("", &["proxy", "--budget", "0"][..], "error: invalid value '0' for '--budget <N>'"),
        ("[gateway]\nbudget = 0\n", &["run", "true"], "gateway.budget must be an integer from 1"),
    ] {
        let project = LCP.project(settings);
        let output = LCP.command(&project.path(""), arguments).output().unwrap();
        assert!(!output.status.success());
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

#[test]
fn flags_in_the_wrong_place_get_hints() {
    let project = project();
    let message =
        |arguments: &[&str]| stderr(&LCP.command(&project.path(""), arguments).output().unwrap());
    let before = message(&["proxy", "--data", "data", "stats"]);
    assert!(before.ends_with("\nhint: write the flags after `stats`\n"), "{before}");
    // `--quiet` is similar to clap, and to nobody else.
    let unknown = message(&["proxy", "stats", "--budget", "4"]);
    assert_eq!(unknown, "error: unexpected argument '--budget' found\n");
}

#[test]
fn address_of_other_machines_needs_a_token() {
    let project = project();
    let arguments = ["proxy", "--listen", "0.0.0.0:0", "--data", "data"];
    let output = LCP.command(&project.path(""), &arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("hint: set LCP_TOKEN or pass --token"), "{}", stderr(&output));
}

/// Returns the path of an agent of npm. The folder of the packages is in `LCP_AGENTS` (`cargo xtask
/// agents`).
pub(crate) fn agent(program: &str) -> PathBuf {
    let packages = std::env::var("LCP_AGENTS").expect("run `cargo xtask agents`");
    Path::new(&packages).join(program)
}

/// Runs an agent of npm with a gateway, without an account and without other servers.
fn run_agent(project: &Project, provider: &Provider, program: &str, arguments: &[&str]) -> Output {
    let program = agent(program);
    let mut command = LCP.command(
        &project.path("work"),
        &["run", "--no-config", "--data", "../data", "--upstream", &provider.url, "--"],
    );
    command.arg(program).args(arguments).stdin(Stdio::null());
    set_environment(&mut command, project);
    command.output().unwrap()
}

/// Sets the environment of an agent without an account.
pub(crate) fn set_environment(command: &mut Command, project: &Project) {
    let home = project.path("home");
    std::fs::create_dir_all(home.join(".codex")).unwrap();
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &home);
    command.env("CODEX_HOME", home.join(".codex")).env("DUMMY_KEY", "sk-dummy");
    for (name, value) in [
        ("ANTHROPIC_API_KEY", "sk-ant-dummy"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("IS_SANDBOX", "1"),
    ] {
        command.env(name, value);
    }
}

/// Writes a file to read, and returns a provider that asks for it. The agent works in the folder `work`.
fn agents_project(file: &str) -> (Project, Provider, Arc<Mutex<Vec<String>>>) {
    let project = LCP.project("");
    std::fs::create_dir_all(project.path("work")).unwrap();
    std::fs::create_dir_all(project.path("data/originals")).unwrap();
    let file = project.path(file);
    std::fs::File::create(&file).unwrap().write_all(lines(1, 0, 200).as_bytes()).unwrap();
    let (provider, broken) = provider_for_agents(move |body| match &body["input"] {
        Value::Array(_) => openai(body, &file),
        _ => anthropic(body, &file),
    });
    (project, provider, broken)
}

#[track_caller]
fn check_agent(
    project: &Project,
    provider: &Provider,
    broken: &Mutex<Vec<String>>,
    output: &Output,
) {
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(broken.lock().unwrap()[..], [""; 0]);
    assert!(output.status.success() && text.contains("All is read."), "{text}{}", stderr(output));
    let stats = project.json(&["proxy", "stats", "--json", "--data", "data"]);
    let total = &stats["total"];
    assert!(total["edits"]["duplicate"].as_u64().unwrap() > 0, "{stats}");
    assert_eq!(total["requests_without_usage"], 0);
    let (with, without) = (&total["cost_with_edits"], &total["cost_without_edits"]);
    assert!(with.as_u64() < without.as_u64(), "{stats}");
    // Each request of the session begins as the one before, without its marks.
    let is_main =
        |request: &&Message| request.line.starts_with("POST ") && request.body.len() > 20_000;
    let requests = provider.requests();
    let sent: Vec<_> = requests.iter().filter(is_main).map(|it| messages(&it.body)).collect();
    assert!(sent.len() > READS);
    for pair in sent.windows(2) {
        assert!(pair[1].starts_with(&pair[0]), "{:?}\n{:?}", pair[0].last(), pair[1].last());
    }
}

/// The folder of the originals is outside of the folder in which the agent works.
#[test]
#[ignore = "needs agents from npm: cargo xtask agents"]
fn agents_read_originals_with_a_gateway() {
    let claude = ["-p", "read it", "--model", "claude-sonnet-4-5"];
    let opencode = ["run", "-m", "anthropic/claude-sonnet-4-5", "read it"];
    for (program, arguments) in [("claude", claude), ("opencode", opencode)] {
        let (project, provider, broken) = agents_project("data/originals/a.txt");
        let program = format!("node_modules/.bin/{program}");
        let output = run_agent(&project, &provider, &program, &arguments);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(broken.lock().unwrap()[..], [""; 0]);
        assert!(text.contains("All is read."), "{program}: {text}{}", stderr(&output));
        let has_line =
            |it: &Message| String::from_utf8_lossy(&it.body).contains("line 0 of file 1");
        assert!(provider.requests().iter().any(has_line), "{program} did not read the file");
    }
}

#[test]
#[ignore = "needs agents from npm: cargo xtask agents"]
fn claude_code_works_with_a_gateway() {
    let (project, provider, broken) = agents_project("work/a.txt");
    let arguments = [
        "-p", "read a.txt", "--model", "claude-sonnet-4-5", "--output-format", "json",
        "--allowedTools", "Read",
    ];
    let program = "node_modules/@anthropic-ai/claude-code-linux-x64/claude";
    let output = run_agent(&project, &provider, program, &arguments);
    check_agent(&project, &provider, &broken, &output);
}

#[test]
#[ignore = "needs agents from npm: cargo xtask agents"]
fn codex_works_with_a_gateway() {
    let (project, provider, broken) = agents_project("work/a.txt");
    let config = "model = \"gpt-5.2-codex\"\nmodel_provider = \"mine\"\n[model_providers.mine]\n\
        name = \"mine\"\nbase_url = \"https://mine.example/v1\"\nenv_key = \"DUMMY_KEY\"\n\
        wire_api = \"responses\"\n";
    std::fs::create_dir_all(project.path("home/.codex")).unwrap();
    std::fs::write(project.path("home/.codex/config.toml"), config).unwrap();
    let arguments =
        ["exec", "--skip-git-repo-check", "--json", "-s", "danger-full-access", "read a.txt"];
    let output = run_agent(&project, &provider, "node_modules/.bin/codex", &arguments);
    check_agent(&project, &provider, &broken, &output);
}

#[test]
#[ignore = "needs agents from npm: cargo xtask agents"]
fn opencode_works_with_a_gateway() {
    let (project, provider, broken) = agents_project("work/a.txt");
    let arguments = ["run", "-m", "anthropic/claude-sonnet-4-5", "read a.txt"];
    let output = run_agent(&project, &provider, "node_modules/.bin/opencode", &arguments);
    check_agent(&project, &provider, &broken, &output);
}
