use super::*;
use serde_json::Value;

const GATEWAY: &str = "http://127.0.0.1:4000";

struct Place {
    home: tempfile::TempDir,
    variables: Vec<(&'static str, &'static str)>,
}

impl Place {
    fn new(variables: &[(&'static str, &'static str)]) -> Self {
        Self { home: tempfile::tempdir().unwrap(), variables: variables.to_vec() }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn agent(&self, line: &str) -> Result<Agent> {
        let command: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let home = self.home.path().as_os_str().to_owned();
        let variable = |name: &str| {
            let set = self.variables.iter().find(|(known, _)| *known == name);
            set.map(|(_, value)| value.into()).or_else(|| (name == "HOME").then(|| home.clone()))
        };
        let folder = self.home.path().join("project");
        Agent::new(&command, None, &Environment { variable: &variable, folder })
    }
}

fn arguments(command: &Command) -> Vec<String> {
    command.get_args().map(|word| word.to_str().unwrap().to_owned()).collect()
}

fn variable(command: &Command, name: &str) -> Option<String> {
    let set = command.get_envs().find(|(known, _)| *known == name)?;
    Some(set.1?.to_str().unwrap().to_owned())
}

#[test]
fn claude_code_gets_settings_for_one_launch() {
    let agent = Place::new(&[]).agent("/opt/bin/claude -p hello").unwrap();
    assert_eq!(agent.upstream(), &Upstream::one("https://api.anthropic.com").unwrap());
    let command = agent.command(GATEWAY, Path::new("/data/originals")).unwrap().command;
    let words = arguments(&command);
    assert_eq!((&*words[0], &*words[2], &*words[3]), ("--settings", "-p", "hello"));
    let settings: Value = serde_json::from_str(&words[1]).unwrap();
    let wanted = serde_json::json!({
        "env": { "ANTHROPIC_BASE_URL": GATEWAY, "ENABLE_TOOL_SEARCH": "true" },
        "permissions": { "additionalDirectories": ["/data/originals"] },
    });
    assert_eq!(settings, wanted);
    assert_eq!(variable(&command, "NO_PROXY").as_deref(), Some("127.0.0.1,localhost"));
}

#[test]
fn settings_of_the_user_remain() {
    let place = Place::new(&[("ANTHROPIC_BASE_URL", "http://shell.example")]);
    assert_eq!(place.agent("claude").unwrap().upstream().anthropic, "http://shell.example");
    place
        .write(".claude/settings.json", r#"{"env":{"ANTHROPIC_BASE_URL":"http://user.example/"}}"#);
    assert_eq!(place.agent("claude").unwrap().upstream().anthropic, "http://user.example");
    place.write(
        "project/.claude/settings.json",
        r#"{"env":{"ANTHROPIC_BASE_URL":"http://project.example"}}"#,
    );
    assert_eq!(place.agent("claude").unwrap().upstream().anthropic, "http://project.example");
    let own = r#"--settings={"env":{"A":"1","ANTHROPIC_BASE_URL":"http://flag.example"},"model":"x","permissions":{"additionalDirectories":["/a"]}}"#;
    let agent = place.agent(&format!("claude {own} --model y")).unwrap();
    assert_eq!(agent.upstream().anthropic, "http://flag.example");
    let words = arguments(&agent.command(GATEWAY, Path::new("/o")).unwrap().command);
    assert_eq!((words.len(), &*words[2]), (4, "--model"));
    let settings: Value = serde_json::from_str(&words[1]).unwrap();
    assert_eq!(settings["model"], "x");
    assert_eq!(settings["env"]["A"], "1");
    assert_eq!(settings["env"]["ANTHROPIC_BASE_URL"], GATEWAY);
    // Another provider may not know it.
    assert_eq!(settings["env"]["ENABLE_TOOL_SEARCH"], Value::Null);
    assert_eq!(settings["permissions"]["additionalDirectories"], serde_json::json!(["/a", "/o"]));
    assert!(place.agent("claude --settings missing.json").is_err());
}

/// All users of a machine can read the arguments of a process.
#[test]
fn settings_of_a_file_stay_out_of_the_arguments() {
    let place = Place::new(&[]);
    place.write("secret.json", r#"{"env":{"ANTHROPIC_AUTH_TOKEN":"secret"}}"#);
    let flag = place.home.path().join("secret.json");
    let agent = place.agent(&format!("claude --settings {} -p", flag.display())).unwrap();
    let command = agent.command(GATEWAY, Path::new("/o")).unwrap();
    let words = arguments(&command.command);
    assert_eq!((words.len(), &*words[0], &*words[2]), (3, "--settings", "-p"));
    let path = PathBuf::from(&words[1]);
    let settings: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(settings["env"]["ANTHROPIC_AUTH_TOKEN"], "secret");
    assert_eq!(settings["env"]["ANTHROPIC_BASE_URL"], GATEWAY);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    drop(command);
    assert!(!path.exists());
}

#[test]
fn codex_gets_overrides() {
    let place = Place::new(&[]);
    let agent = place.agent("codex exec hello").unwrap();
    let words = arguments(&agent.command(GATEWAY, Path::new("/o")).unwrap().command);
    let url = format!("openai_base_url=\"{GATEWAY}/v1\"");
    assert_eq!(words, ["-c", &url, "exec", "hello"]);
    place.write(
        ".codex/config.toml",
        "model_provider = 'mine'\n[model_providers.mine]\nbase_url = 'http://mine.example/v1/'\n\
         [profiles.other]\nmodel_provider = 'openai'\n",
    );
    let agent = place.agent("codex").unwrap();
    assert_eq!(agent.upstream(), &Upstream::one("http://mine.example/v1").unwrap());
    let words = arguments(&agent.command(GATEWAY, Path::new("/o")).unwrap().command);
    assert_eq!(words, ["-c", &format!("model_providers.mine.base_url=\"{GATEWAY}\"")]);
    let key = "model_providers.mine.base_url=http://own.example";
    for own in ["-c ", "-c", "--config ", "--config=", "-c a.base_url=x -c ", "-c x=1 -c "] {
        let own = format!("codex {own}{key} exec -c b=1 -- -c {key}");
        let agent = place.agent(&own).unwrap();
        assert_eq!(agent.upstream(), &Upstream::one("http://own.example").unwrap());
        let words = arguments(&agent.command(GATEWAY, Path::new("/o")).unwrap().command);
        let rest = own.replacen(key, "", 1);
        assert!(rest.ends_with(&words[words.len() - 6..].join(" ")), "{words:?}");
        assert_eq!(words.iter().filter(|word| word.contains("own.example")).count(), 1);
    }
    for line in ["codex --profile=other", "codex -c model_provider=\"openai\" exec x"] {
        assert_eq!(place.agent(line).unwrap().upstream(), &Upstream::default(), "{line}");
    }
    place.write(".codex/config.toml", "model_provider = \n");
    assert!(place.agent("codex").unwrap_err().message.contains("config.toml"));
}

/// Returns the base URLs of both providers in the configuration and in the variables of a launch.
fn opencode_urls(agent: &Agent) -> [Option<String>; 4] {
    let command = agent.command(GATEWAY, Path::new("/o")).unwrap().command;
    let json = variable(&command, "OPENCODE_CONFIG_CONTENT").unwrap_or_else(|| "{}".into());
    let json: Value = serde_json::from_str(&json).unwrap();
    let url = |name: &str| json["provider"][name]["options"]["baseURL"].as_str().map(str::to_owned);
    let names = ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"].map(|name| variable(&command, name));
    let [anthropic, openai] = names;
    [url("anthropic"), url("openai"), anthropic, openai]
}

#[test]
fn opencode_gets_variables_for_providers_that_are_not_configured() {
    let mut place = Place::new(&[]);
    place.write("project/.git/HEAD", "");
    let default = Some(format!("{GATEWAY}/v1"));
    let agent = place.agent("opencode run hello").unwrap();
    assert_eq!(agent.upstream(), &Upstream::default());
    assert_eq!(opencode_urls(&agent), [None, None, default.clone(), default.clone()]);
    place.variables = vec![
        ("ANTHROPIC_BASE_URL", "http://a.example/v1"),
        ("OPENAI_BASE_URL", "http://o.example/api"),
    ];
    let agent = place.agent("opencode").unwrap();
    let (anthropic, openai) = (&agent.upstream().anthropic, &agent.upstream().openai);
    assert_eq!((&**anthropic, &**openai), ("http://a.example", "http://o.example/api"));
    assert_eq!(opencode_urls(&agent), [None, None, default, Some(GATEWAY.to_owned())]);
}

#[test]
fn opencode_may_read_originals_unless_the_user_decided_for_all_folders() {
    let permission = |place: &Place| {
        let agent = place.agent("opencode run hello").unwrap();
        let command = agent.command(GATEWAY, Path::new("/o")).unwrap().command;
        let json = variable(&command, "OPENCODE_CONFIG_CONTENT");
        json.map(|json| serde_json::from_str::<Value>(&json).unwrap()["permission"].clone())
    };
    let mut place = Place::new(&[]);
    place.write("project/.git/HEAD", "");
    let allowed = serde_json::json!({ "external_directory": { "/o/*": "allow" } });
    assert_eq!(permission(&place), Some(allowed));
    place.variables = vec![(
        "OPENCODE_CONFIG_CONTENT",
        r#"{"permission":{"edit":"ask","external_directory":{"/a/*":"deny"}}}"#,
    )];
    let rules = serde_json::json!({ "/a/*": "deny", "/o/*": "allow" });
    let merged = serde_json::json!({ "edit": "ask", "external_directory": rules });
    assert_eq!(permission(&place), Some(merged));
    place.variables = Vec::new();
    for own in [r#"{"permission":"ask"}"#, r#"{"permission":{"external_directory":"deny"}}"#] {
        place.write("project/opencode.json", own);
        assert_eq!(permission(&place), None, "{own}");
    }
}

#[test]
fn opencode_gets_a_configuration_for_configured_providers() {
    let mut place = Place::new(&[("ANTHROPIC_BASE_URL", "http://variable.example/v1")]);
    place.write("project/.git/HEAD", "");
    let file = |name: &str| {
        format!(
            "{{ // mine\n\"provider\":{{\"anthropic\":{{\"options\":{{\"baseURL\":\"http://{name}/v1\",}}}}}}}}"
        )
    };
    // Each comes before the files before it.
    for (path, name) in [
        (".config/opencode/config.json", "a.example"),
        (".config/opencode/opencode.jsonc", "b.example"),
        ("project/opencode.json", "c.example"),
        ("project/opencode.jsonc", "d.example"),
        ("project/.opencode/opencode.json", "e.example"),
        (".opencode/opencode.json", "f.example"),
    ] {
        place.write(path, &file(name));
        let agent = place.agent("opencode").unwrap();
        assert_eq!(agent.upstream().anthropic, format!("http://{name}"), "{path}");
        let url = Some(format!("{GATEWAY}/v1"));
        assert_eq!(opencode_urls(&agent), [url.clone(), None, None, url]);
    }
    let own = r#"{"theme":"x","provider":{"anthropic":{"options":{"baseURL":"http://own.example/api","timeout":1}}}}"#;
    place.variables = vec![("OPENCODE_CONFIG_CONTENT", own)];
    let agent = place.agent("opencode").unwrap();
    assert_eq!(agent.upstream().anthropic, "http://own.example/api");
    assert_eq!(opencode_urls(&agent)[0].as_deref(), Some(GATEWAY));
    let command = agent.command(GATEWAY, Path::new("/o")).unwrap().command;
    let json = variable(&command, "OPENCODE_CONFIG_CONTENT").unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["theme"], &json["provider"]["anthropic"]["options"]["timeout"]),
        (&"x".into(), &1.into())
    );
    // With an upstream of the command, paths are those of the API.
    let home = place.home.path().as_os_str().to_owned();
    let variable = |name: &str| match name {
        "HOME" => Some(home.clone()),
        "OPENCODE_CONFIG_CONTENT" => Some(own.replace("http://own.example", "{env:URL}").into()),
        _ => None,
    };
    let environment =
        Environment { variable: &variable, folder: place.home.path().join("project") };
    let upstream = Upstream::one("http://flag.example").unwrap();
    let agent = Agent::new(&["opencode".into()], Some(upstream), &environment).unwrap();
    assert_eq!(opencode_urls(&agent)[0], Some(format!("{GATEWAY}/v1")));
    let error = Agent::new(&["opencode".into()], None, &environment).unwrap_err();
    assert!(error.message.contains("{env:URL}"), "{error}");
    place.variables = vec![("OPENCODE_CONFIG_CONTENT", "[")];
    assert!(place.agent("opencode").unwrap_err().message.contains("OPENCODE_CONFIG_CONTENT"));
}

#[test]
fn other_programs_get_variables() {
    let place =
        Place::new(&[("OPENAI_BASE_URL", "http://own.example/v1"), ("no_proxy", "a.example")]);
    let agent = place.agent("python3 agent.py").unwrap();
    assert_eq!(agent.upstream().openai, "http://own.example/v1");
    let command = agent.command(GATEWAY, Path::new("/o")).unwrap().command;
    assert_eq!(arguments(&command), ["agent.py"]);
    assert_eq!(variable(&command, "ANTHROPIC_BASE_URL").as_deref(), Some(GATEWAY));
    assert_eq!(variable(&command, "OPENAI_BASE_URL").as_deref(), Some(GATEWAY));
    assert_eq!(variable(&command, "no_proxy").as_deref(), Some("a.example,127.0.0.1,localhost"));
    let agent = Place::new(&[]).agent("node a.js").unwrap();
    let command = agent.command(GATEWAY, Path::new("/o")).unwrap().command;
    assert_eq!(variable(&command, "OPENAI_BASE_URL"), Some(format!("{GATEWAY}/v1")));
    for (url, version) in [("http://flag.example", "/v1"), ("http://flag.example/v1", "")] {
        let environment = Environment { variable: &|_| None, folder: PathBuf::new() };
        let upstream = Upstream::one(url).unwrap();
        let agent = Agent::new(&["node".into()], Some(upstream), &environment).unwrap();
        let command = agent.command(GATEWAY, Path::new("/o")).unwrap().command;
        assert_eq!(variable(&command, "OPENAI_BASE_URL"), Some(format!("{GATEWAY}{version}")));
    }
    let wrong = Place::new(&[("OPENAI_BASE_URL", "own.example")]).agent("node a.js").unwrap_err();
    assert!(wrong.message.contains("own.example"), "{wrong}");
}
