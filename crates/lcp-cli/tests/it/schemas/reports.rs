//! Every command that prints a report, on samples and on small inputs.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use lcp_continuity::store::{SqliteStore, Store};
use lcp_gateway::Api;
use lcp_testkit::cli_harness::root;
use lcp_transcripts::Provider;
use serde_json::{Value, json};

use super::Validator;
use crate::command::{LCP, Project, encode, stderr};
use crate::gateway;
use crate::gateway_histories::{Step, request};
use crate::gateway_upstream::{Provider as ApiProvider, send};
use crate::handoff_demo::{demo, history};
use crate::import::transcript;

const REPORT: &str = "lcp.report.v1";

/// Checks a report of every command.
pub(super) fn check_all(validator: &mut Validator) {
    let mut runs = Runs::new(validator);
    runs.of_samples();
    runs.of_renders();
    runs.of_stable_renders();
    runs.of_settings();
    runs.of_counts();
    runs.of_damaged_packs();
    runs.of_differences();
    runs.of_transcripts();
    runs.of_folders();
    runs.of_sessions();
    runs.of_gateway();
    runs.of_demos();
}

/// A folder in which commands run, and the schemas for their reports.
struct Runs<'v> {
    project: Project,
    validator: &'v mut Validator,
}

impl<'v> Runs<'v> {
    /// Makes a folder with the samples.
    fn new(validator: &'v mut Validator) -> Self {
        let project = LCP.project("[continuity]\nstore = \"sessions.sqlite\"\n");
        for name in samples() {
            fs::copy(root().join("samples").join(&name), project.path(&name)).unwrap();
        }
        Self { project, validator }
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.project.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn encode(&self, name: &str, blocks: &Value) {
        encode(&json!({ "blocks": blocks }).to_string(), &self.project.path(name));
    }

    /// Runs a command line, which ends with this exit code. Its arguments have no spaces.
    #[track_caller]
    fn run(&self, line: &str, code: i32) -> Output {
        let output = self.project.run(&line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(code), "{line}: {}", stderr(&output));
        output
    }

    /// Checks the JSON that a command prints.
    #[track_caller]
    fn prints(&mut self, name: &str, line: &str) -> Value {
        self.prints_with(name, line, 0)
    }

    /// Checks the JSON that a command prints, which ends with this exit code.
    #[track_caller]
    fn prints_with(&mut self, name: &str, line: &str, code: i32) -> Value {
        let output = self.run(line, code);
        let report = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{line}: {error}: {}", stderr(&output)));
        self.validator.check(name, &report, line);
        report
    }

    /// Checks the JSON that a command prints, unless it fails without any.
    #[track_caller]
    fn prints_if_possible(&mut self, name: &str, line: &str) {
        let output = self.project.run(&line.split_whitespace().collect::<Vec<_>>());
        match serde_json::from_slice(&output.stdout) {
            Ok(report) => self.validator.check(name, &report, line),
            Err(error) => {
                assert!(output.stdout.is_empty() && !output.status.success(), "{line}: {error}");
            }
        }
    }

    /// Checks the JSON that a command writes with `--report`.
    #[track_caller]
    fn writes(&mut self, name: &str, line: &str) -> Value {
        let line = format!("{line} --report written.json");
        self.run(&line, 0);
        let text = fs::read(self.project.path("written.json")).unwrap();
        let report = serde_json::from_slice(&text).unwrap();
        self.validator.check(name, &report, &line);
        report
    }

    fn of_samples(&mut self) {
        for pack in samples().iter().filter(|name| has_extension(name, "lcp")) {
            for flags in [
                "",
                "--budget 300 --dedup near --objective value --shares agent",
                "--budget 300 --fill --mode markdown --encoding heuristic",
            ] {
                self.prints(REPORT, &format!("report {pack} --json {flags}"));
            }
            self.prints("lcp.inspect.v1", &format!("inspect {pack} --json"));
            self.prints("lcp.stats.v1", &format!("stats {pack} --json"));
            self.prints_if_possible("lcp.validate.v1", &format!("validate {pack} --full --json"));
            self.writes("lcp.dedup.v1", &format!("dedup {pack} --dedup near -o once.lcp"));
        }
    }

    fn of_renders(&mut self) {
        self.write("broken.json", "{");
        for flags in [
            "--budget 0",
            "--budget 1",
            "--budget 40 --verbosity full",
            "--budget 40 --verbosity summary --mode minimal",
            "--budget 900 --excerpts on",
            "--budget 3000 --objective value",
            "--window 4000 --response-reserve 900 --types code,tool-result",
            "--model gpt-4o --special-tokens escape",
            "--budget 900 --encoding broken.json",
            "--budget 900 --dedup off --dedup-prefer first",
            "--budget 900 --segments",
        ] {
            self.prints(REPORT, &format!("report session.lcp --json {flags}"));
        }
        let code = "let value = compute(1);\n".repeat(99);
        let tags = ["passages=20-24:900 60-62:700", "reason=named in the question"];
        let ranked = json!([{"type": "code", "path": "a.rs", "content": code, "tags": tags}]);
        self.encode("ranked.lcp", &ranked);
        let report = self.prints(REPORT, "report ranked.lcp --json --budget 110");
        assert_eq!(report["blocks"][0]["lines"][0], json!([20, 24]));
        let report = self.prints(REPORT, "report duplicates.lcp --json --dedup near --budget 400");
        assert!(report["dedup"]["tokens_saved"].as_u64().unwrap() > 0);
        let report = self.writes(REPORT, "render session.lcp --budget 900 -o text.xml");
        assert!(report["suggestion"].is_string(), "{report:#}");
        self.write(
            "capped.toml",
            "[context.budget.categories]\nopen_files = { percent = 20, cap = 50 }\n\
             tool_results = { tokens = 500 }\n",
        );
        let flags = "--json --budget 2000 --config capped.toml";
        let report = self.prints(REPORT, &format!("report session.lcp {flags}"));
        assert_eq!(report["shares"][0]["cap"], 50);
    }

    /// A loop of turns that repacks its text.
    fn of_stable_renders(&mut self) {
        let mut blocks = vec![];
        let mut turns = vec![];
        for turn in 0..10 {
            let answer = format!("Answer {turn}: many have an opinion. ").repeat(12);
            blocks.push(conversation("user", &format!("Question {turn}?")));
            blocks.push(conversation("assistant", &answer));
            self.encode("turn.lcp", &json!(blocks));
            let flags = "--previous plan.json --plan plan.json --repack-at 0.8,0.4 --budget 500";
            let report = self.writes(REPORT, &format!("render turn.lcp {flags} -o text.xml"));
            turns.push(report["stable"]["turn"].clone());
        }
        for turn in ["fresh", "appended", "repacked"] {
            assert!(turns.contains(&json!(turn)), "{turns:?}");
        }
    }

    fn of_settings(&mut self) {
        self.write(
            "shares.toml",
            "[context.budget]\nwindow = 9000\nsafety = 0.5\nresponse_reserve = 100\n\
             [context.budget.categories]\nopen_files = { percent = 90, cap = 90 }\n\
             references = { tokens = 5000 }\n[context.values]\nhigh = 50\n",
        );
        for flags in [
            "",
            "--budget 4000 --window 9000 --objective value",
            "--window 8000 --shares agent --system-prompt-reserve 100",
            "--config shares.toml --model gpt-4o",
            "--shares agent --fill --excerpts off --overflow deny --encoding heuristic",
        ] {
            self.prints("lcp.budget.v1", &format!("config --json {flags}"));
        }
    }

    fn of_counts(&mut self) {
        self.prints("lcp.count.v1", "count session.json empty.json --json");
        let counts = self.prints("lcp.count.v1", "count session.json --up-to 3 --json");
        assert_eq!(counts["total"], Value::Null);
        self.prints("lcp.count.v1", "count session.json --encoding heuristic --json");
    }

    fn of_damaged_packs(&mut self) {
        self.run("encode every-type.json -o costs.lcp --index-costs", 0);
        self.run("encode every-type.json -o bare.lcp --no-index", 0);
        self.run("encode every-type.json -o blocks.lcp --compress block --index-costs", 0);
        self.run("encode every-type.json -o payload.lcp --compress payload", 0);
        let inspected = self.prints("lcp.inspect.v1", "inspect costs.lcp --json --no-tokens");
        assert_eq!(inspected["trailer"]["costs"][0]["encoding"], "o200k_base");
        let packs = ["costs.lcp", "bare.lcp", "blocks.lcp", "payload.lcp"];
        for pack in packs {
            let whole = fs::read(self.project.path(pack)).unwrap();
            let changed = |at: usize| {
                let mut bytes = whole.clone();
                bytes[at] ^= 0x55;
                bytes
            };
            for bytes in [
                changed(1),
                changed(9),
                changed(60),
                changed(whole.len() / 2),
                changed(whole.len() - 30),
                whole[..whole.len() * 2 / 3].to_vec(),
                whole[..4].to_vec(),
                [&whole[..], b"more"].concat(),
            ] {
                self.write("damaged.lcp", bytes);
                self.of_damaged_pack();
            }
        }
        let line = format!("validate --full --json missing.lcp {}", packs.join(" "));
        let checked = self.prints_with("lcp.validate.v1", &line, 1);
        assert_eq!(checked["packs"][0]["valid"], Value::Null);
        assert_eq!(checked["packs"][2]["notes"][0]["code"], "no_trailer");
        let whole = self.prints("lcp.recover.v1", "recover costs.lcp -o saved.lcp --json");
        assert_eq!(whole["whole"], true);
        let line = "annotate costs.lcp --index 0 --tag pinned -o annotated.lcp --json";
        self.prints("lcp.annotate.v1", line);
        self.of_damaged_bodies();
    }

    /// Compressed bodies that can be decompressed, but not read.
    fn of_damaged_bodies(&mut self) {
        let long = "a".repeat(3_000);
        self.write("long.json", json!({ "blocks": [code("a", &long)] }).to_string());
        self.run("encode long.json -o long.lcp --compress block --no-index", 0);
        let whole = fs::read(self.project.path("long.lcp")).unwrap();
        let mut line = "validate --json".to_owned();
        for at in 8..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            self.write(&format!("long.{at}.lcp"), damaged);
            write!(line, " long.{at}.lcp").unwrap();
        }
        let checked = self.prints_with("lcp.validate.v1", &line, 3);
        let packs = checked["packs"].as_array().unwrap().iter();
        let mut problems = packs.flat_map(|pack| pack["problems"].as_array().unwrap());
        assert!(problems.any(|problem| problem["inner_offset"].is_number()), "{checked:#}");
    }

    /// Checks the reports on `damaged.lcp`, however the commands end.
    fn of_damaged_pack(&mut self) {
        for (name, line) in [
            ("lcp.inspect.v1", "inspect damaged.lcp --json"),
            ("lcp.validate.v1", "validate damaged.lcp --full --json"),
            ("lcp.recover.v1", "recover damaged.lcp -o saved.lcp --json"),
            ("lcp.stats.v1", "stats damaged.lcp --json"),
            (REPORT, "report damaged.lcp --json"),
        ] {
            self.prints_if_possible(name, line);
        }
    }

    fn of_differences(&mut self) {
        let code = |path: &str, text: &str| json!({ "type": "code", "lang": "rust", "path": path, "content": text });
        let with = |mut block: Value, key: &str, value: Value| {
            block[key] = value;
            block
        };
        self.encode("a.lcp", &json!([code("a", "a"), code("b", "b"), code("c", "c")]));
        let changed = with(with(code("c", "C"), "summary", json!("c")), "priority", json!("low"));
        self.encode("b.lcp", &json!([code("d", "d"), changed, code("a", "a")]));
        let diff = self.prints("lcp.diff.v1", "diff a.lcp b.lcp --json");
        let counts = ["added", "removed", "changed"].map(|key| diff[key].as_u64().unwrap());
        assert_eq!(counts, [1, 1, 1], "{diff:#}");
        self.prints("lcp.diff.v1", "diff a.lcp a.lcp --json");
        self.prints("lcp.diff.v1", "diff every-type.lcp unknown-values.lcp --json");
        self.prints_with("lcp.diff.v1", "diff session.lcp pairs.lcp --json --exit-code", 1);
    }

    fn of_transcripts(&mut self) {
        let call = |id: &str, name: &str| {
            let function = json!({ "name": name, "arguments": "{}" });
            json!({ "role": "assistant", "content": null, "tool_calls": [
                { "id": id, "type": "function", "function": function }] })
        };
        let long_id = "call_".repeat(12);
        let chat = json!([
            { "role": "developer", "content": "Be brief." },
            { "role": "user", "content": "Find the port. ".repeat(20) },
            call(&long_id, "fs.read file"),
            { "role": "tool", "tool_call_id": long_id, "content": "port = 80\n".repeat(40) },
            { "role": "user", "content": "" },
            call("call_2", "read"),
            { "role": "tool", "tool_call_id": "call_9", "content": "nothing" },
            { "role": "user", "content": "And now?" },
        ]);
        self.write("chat.json", chat.to_string());
        for name in ["aider.md", "claude-code.jsonl", "codex.jsonl", "codex-old.jsonl", "mcp.jsonl"]
        {
            fs::copy(transcript(name), self.project.path(name)).unwrap();
        }
        let codex = fs::read(self.project.path("codex.jsonl")).unwrap();
        self.write("cut.jsonl", &codex[..codex.len() - 9]);
        for name in [
            "chat.json", "aider.md", "claude-code.jsonl", "codex.jsonl", "codex-old.jsonl",
            "mcp.jsonl", "cut.jsonl",
        ] {
            self.prints("lcp.import.v1", &format!("import {name} -o all.lcp --sidechains --json"));
            self.writes("lcp.import.v1", &format!("import {name} -o chat.lcp"));
            for flags in ["", "--budget 60", "--budget 200"] {
                for to in Provider::ALL {
                    let line = format!("export chat.lcp --to {to} {flags} -o request.json");
                    self.writes("lcp.export.v1", &line);
                }
            }
        }
        let line = "export all.lcp --to openai --budget 200 -o request.json";
        self.run("import claude-code.jsonl -o all.lcp --sidechains", 0);
        self.writes("lcp.export.v1", line);
        let imported = self.prints("lcp.import.v1", "import chat.json -o chat.lcp --json");
        assert_eq!((&imported["unanswered"], &imported["orphans"]), (&json!(1), &json!(1)));
        let line = "export chat.lcp --to openai -o request.json";
        let exported = self.writes("lcp.export.v1", line);
        assert_eq!((&exported["renamed"], &exported["unanswered"]), (&json!(1), &json!(1)));
        assert!(exported["renamed_tools"]["fs.read file"].is_string());
        // Requests on a line each, which is a warning about the whole file.
        let request = json!({ "model": "gpt-4o", "messages": [conversation("user", "Hello.")] });
        self.write("requests.jsonl", format!("{request}\n{request}\n"));
        let imported = self.prints("lcp.import.v1", "import requests.jsonl -o chat.lcp --json");
        assert_eq!(imported["warnings"][0]["line"], Value::Null);
        for flags in ["annotations.lcp", "session.lcp --budget 30 --encoding heuristic"] {
            let line = format!("export {flags} --to openai -o request.json");
            let exported = self.writes("lcp.export.v1", &line);
            assert!(!exported["warnings"].as_array().unwrap().is_empty(), "{flags}");
        }
    }

    fn of_folders(&mut self) {
        let token = format!("gh{}_wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx\n", 'p');
        let files: [(&str, &[u8]); 10] = [
            ("token.txt", token.as_bytes()),
            ("latin.txt", b"caf\xe9 in K\xf6ln\n"),
            ("README.md", b"# Retry\n\nRetries a command.\n\n## Use\n\nCall it.\n"),
            ("src/main.rs", b"fn main() {\n    retry::run(3);\n}\n"),
            ("src/retry.rs", b"/// Runs it.\npub fn run(times: u32) {\n    let _ = times;\n}\n"),
            ("notes.ipynb", br#"{"cells":[{"cell_type":"code","source":"1"}]}"#),
            ("empty.rs", b""),
            ("data.bin", b"\0\x01\x02"),
            ("picture.png", b"\x89PNG\r\n\x1a\n"),
            (".gitignore", b"target\n"),
        ];
        for (name, bytes) in files {
            self.write(&format!("folder/{name}"), bytes);
        }
        self.write(
            "rules.toml",
            "[[pack.rule]]\nglob = \"src/\"\npriority = \"high\"\ncategory = \"open_files\"\n\
             rank = 1.5\npinned = true\n",
        );
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            let names = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
            git.args(names).args(arguments).current_dir(self.project.path("folder"));
            assert!(git.output().unwrap().status.success(), "git {arguments:?}");
        };
        git(&["init", "-q", "."]);
        git(&["add", "-A"]);
        git(&["commit", "-qm", "first"]);
        self.write("folder/src/main.rs", "fn main() {\n    retry::run(4);\n}\n");
        #[cfg(unix)]
        std::os::unix::fs::symlink("missing", self.project.path("folder/link")).unwrap();
        for flags in [
            "",
            "--images --hidden --max-file-size 40",
            "--diff --summarize outline --config rules.toml",
            "--since HEAD --no-tree --no-default-rules",
            "--follow --diff",
        ] {
            let packed = self.writes("lcp.pack.v1", &format!("pack folder -o p.lcp {flags}"));
            assert!(packed["totals"]["files"].as_u64().unwrap() > 0, "{flags}: {packed:#}");
        }
    }

    fn of_sessions(&mut self) {
        const RECORD: &str = "session record work history.md --json";
        self.write("history.md", history(4));
        self.prints("lcp.track.v1", &format!("{RECORD} --window 2600 --output-reserve 1000"));
        self.prints("lcp.prepared.v1", "session handoff work --json");
        self.write("history.md", history(16));
        let due = self.prints("lcp.track.v1", RECORD);
        assert_eq!(due["decision"], "hand_off");
        let line = "session handoff work --target 150 -o handoff.lcp --json";
        let prepared = self.prints("lcp.prepared.v1", line);
        let id = prepared["handoff"]["id"].as_str().unwrap().to_owned();
        self.prints(
            "lcp.track.v1",
            "session record work --usage 8600,8000,100 --window 3000 --json",
        );
        for pack in ["report", "stats", "inspect"] {
            self.prints(&format!("lcp.{pack}.v1"), &format!("{pack} handoff.lcp --json"));
        }
        self.prints("lcp.stats.v1", "stats handoff.lcp --tree --json");
        self.prints("lcp.usage.v1", "session usage work --json");
        self.prints("lcp.track.v1", "session record work --usage 2300 --json");
        self.prints("lcp.handoff-record.v1", &format!("session show {id} --json"));
        self.write("history.md", history(18));
        self.prints("lcp.track.v1", RECORD);
        let resumed =
            self.prints("lcp.resume.v1", &format!("session resume {id} --as next --json"));
        assert!(!resumed["late_messages"].as_array().unwrap().is_empty());
        self.prints("lcp.resume.v1", &format!("session resume {id} --repeat --json"));
        self.prints("lcp.handoff-record.v1", &format!("session show {id} --json"));
        self.of_calls_in_sessions();
        let prepared = self.prints("lcp.prepared.v1", "session handoff next --force --json");
        assert_eq!(prepared["handoff"]["previous"], id);
        let next = prepared["handoff"]["id"].as_str().unwrap();
        self.prints("lcp.handoff-record.v1", &format!("session show {next} --json"));
        self.run("session fork next --at 1 --as forked", 0);
        self.prints("lcp.usage.v1", "session usage forked --json");
        self.run("session record tiny --usage 1 --model gpt-4", 0);
        self.prints("lcp.usage.v1", "session usage tiny --json");
        let shown = self.prints("lcp.conversation.v1", "session show forked --json");
        assert_eq!(shown["parent"]["id"], "next");
        for id in ["work", "next"] {
            self.prints("lcp.conversation.v1", &format!("session show {id} --json"));
        }
        self.of_compactions();
        self.prints("lcp.store.v1", "session list --json");
        self.prints("lcp.check.v1", "session check --json");
        self.prints("lcp.expired.v1", "session expire --json");
    }

    /// A gateway with one request.
    fn of_gateway(&mut self) {
        const STATS: &str = "proxy stats --data gateway --json";
        let provider = ApiProvider::strict();
        let (mut gateway, url) = gateway::start(&self.project, &provider.url, "gateway", &[]);
        let body = request(Api::Anthropic, &[Step::Turn("hello".into())]);
        assert_eq!(send(&url, "/v1/messages", &[], &body).status(), 200);
        // The gateway records a request when its response has ended.
        while self.prints("lcp.gateway.v1", STATS)["total"]["requests"] == 0 {
            std::thread::sleep(Duration::from_millis(20));
            assert_eq!(gateway.try_wait().unwrap(), None);
        }
        gateway.kill().unwrap();
        gateway.wait().unwrap();
    }

    fn of_compactions(&mut self) {
        const SCHEMA: &str = "lcp.compaction.v1";
        self.write("long.md", history(60));
        self.run("session record long long.md --window 8000", 0);
        for line in [
            "session compact long --dry-run --json",
            "session compact long.md --window 8000 --target-percent 10 --memory-percent 1 --json",
            "session compact long --json",
            "session compact long --if-due --json",
        ] {
            self.prints(SCHEMA, line);
        }
    }

    /// A conversation with tool calls. Its newest call comes after the hand-off.
    fn of_calls_in_sessions(&mut self) {
        const RECORD: &str = "session record calls calls.jsonl --json";
        let line = |role: &str, content: Value| {
            let message = json!({ "role": role, "content": content });
            format!("{}\n", json!({ "type": role, "sessionId": "s", "message": message }))
        };
        let call = |id: &str, command: &str| {
            let input = json!({ "command": command });
            let content = json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": input }]);
            line("assistant", content)
        };
        let result = json!([{ "type": "tool_result", "tool_use_id": "call_1", "content": "" }]);
        let mut session = fs::read_to_string(transcript("claude-code.jsonl")).unwrap();
        session += &call("call_1", "cd /srv/app && export PORT=80 && git switch -c fix");
        session += &line("user", result);
        self.write("calls.jsonl", &session);
        self.prints("lcp.track.v1", RECORD);
        let prepared = self.prints("lcp.prepared.v1", "session handoff calls --force --json");
        let id = prepared["handoff"]["id"].as_str().unwrap();
        session += &line("user", json!("List the files."));
        session += &call("call_2", "ls");
        self.write("calls.jsonl", session);
        self.prints("lcp.track.v1", RECORD);
        let line = format!("session resume {id} --as calls-2 --json");
        let resumed = self.prints("lcp.resume.v1", &line);
        assert_eq!(resumed["state"]["branch"], "fix", "{resumed:#}");
        // The reports name the process that holds a conversation.
        let store = SqliteStore::open(self.project.path("sessions.sqlite")).unwrap();
        let lease = store.lease("calls-2", "another", Duration::from_secs(600)).unwrap();
        self.prints("lcp.conversation.v1", "session show calls-2 --json");
        self.prints("lcp.store.v1", "session list --json");
        store.release(&lease).unwrap();
    }

    /// `cargo xtask handoff`, which is an example.
    fn of_demos(&mut self) {
        let folder = demo().project("");
        fs::write(folder.path("history.md"), history(60)).unwrap();
        for flags in ["--show last", "--manual", "--compact"] {
            let line = format!("history.md --window 4000 --json {flags}");
            let report = folder.json(&line.split_whitespace().collect::<Vec<_>>());
            self.validator.check("lcp.handoff.v1", &report, &line);
        }
    }
}

/// The names of the sample files.
fn samples() -> Vec<String> {
    let entries = fs::read_dir(root().join("samples")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> =
        names.filter(|name| has_extension(name, "lcp") || has_extension(name, "json")).collect();
    names.sort();
    names
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == extension)
}

fn code(path: &str, text: &str) -> Value {
    json!({ "type": "code", "lang": "rust", "path": path, "content": text })
}

fn conversation(role: &str, text: &str) -> Value {
    json!({ "type": "conversation", "role": role, "content": text })
}
