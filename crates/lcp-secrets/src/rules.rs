//! The shapes of secrets, as their providers document them.
//!
//! A rule has literals that a scan searches for, and a pattern for the rest of the secret. No rule
//! relies on randomness alone, because hashes, ids and test data look random too.

/// The shape of one kind of secret.
#[derive(Clone, Copy)]
pub(crate) struct Rule {
    /// The name of the kind, in kebab case.
    pub(crate) kind: &'static str,
    /// The literals at the beginning of the secret, or after its lead.
    pub(crate) literals: &'static [&'static str],
    /// The characters of the secret before the literal.
    pub(crate) lead: Option<Lead>,
    /// The pattern after the literal. The secret is its first group. Without a group, the secret is
    /// the lead, the literal and the match of the pattern.
    pub(crate) rest: &'static str,
    /// The check of a match.
    pub(crate) check: Check,
}

/// Characters before the literal of a rule.
#[derive(Clone, Copy)]
pub(crate) struct Lead {
    pub(crate) min: usize,
    pub(crate) max: usize,
    pub(crate) is_part: fn(&u8) -> bool,
}

/// The check that a match must pass.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// The value is not a placeholder, such as `ghp_xxxxxxxxxxxx`.
    Token,
    /// The value does not end in `EXAMPLE`, as the keys in the documentation of AWS do.
    NotExample,
    /// The first part of the value is JSON in Base64 with the field `alg`.
    Jwt,
    /// The first part of the value is a number in Base64.
    NumberInBase64,
    /// The value is a password, and neither a variable nor a word that documentation uses.
    Password,
    /// The lines after the first marker are a key.
    PrivateKey,
    /// The lines before the last marker are a key whose first marker is missing.
    PrivateKeyEnd,
}

const fn token(kind: &'static str, literals: &'static [&'static str], rest: &'static str) -> Rule {
    Rule { kind, literals, lead: None, rest, check: Check::Token }
}

const fn checked(rule: Rule, check: Check) -> Rule {
    Rule { check, ..rule }
}

const fn led(rule: Rule, min: usize, max: usize, is_part: fn(&u8) -> bool) -> Rule {
    Rule { lead: Some(Lead { min, max, is_part }), ..rule }
}

/// An assignment or a field of JSON or YAML between the name of a secret and its value.
macro_rules! assigned {
    ($value:literal) => {
        concat!(r#"\\?["']?\]?[ \t]{0,8}(?:=>|:=|=|:|,)[ \t]{0,8}\\?["']?"#, "(", $value, ")")
    };
}

/// The user name, the password and the at sign of a URL. The password is the group. It may contain
/// an at sign, if a host follows the last one.
const URL_PASSWORD: &str = r#"[^\s:/?#@"'`<>]{0,256}:([^\s/?#"'`<>]{1,512})@[A-Za-z0-9\[]"#;

/// The rest of the marker of a private key.
const PRIVATE_KEY: &str = r"(?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----";

/// All rules. Rules with the same kind are variants of one shape.
pub(crate) const RULES: &[Rule] = &[
    // Private keys.
    checked(token("private-key", &["-----BEGIN "], PRIVATE_KEY), Check::PrivateKey),
    checked(token("private-key", &["-----END "], PRIVATE_KEY), Check::PrivateKeyEnd),
    token(
        "private-key",
        &["Private-Lines: "],
        r"\d{1,3}\r?\n((?:[A-Za-z0-9+/=]{4,76}\r?\n){2,200})",
    ),
    token("age-key", &["AGE-SECRET-KEY-1"], r"[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    // Code hosts.
    token("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"[A-Za-z0-9]{36,251}"),
    token("github-token", &["ghs_"], r"\d{1,20}_eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
    token("github-token", &["github_pat_"], r"[A-Za-z0-9]{22}_[A-Za-z0-9]{59}|[A-Za-z0-9_]{82}"),
    token(
        "gitlab-token",
        &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-",
            "gloas-", "glsoat-", "glffct-",
        ],
        r"[A-Za-z0-9_-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9}|\.[0-9a-z]{9})?",
    ),
    token("gitlab-token", &["_gitlab_session="], r"([0-9A-Za-z]{32})"),
    token("gitlab-token", &["GR1348941"], r"[A-Za-z0-9_-]{20}"),
    token("bitbucket-token", &["ATBB"], r"[A-Za-z0-9]{24}[A-F0-9]{8}"),
    token("atlassian-token", &["ATATT3", "ATCTT3"], r"[A-Za-z0-9_=-]{180,256}"),
    token("sourcegraph-token", &["sgp_"], r"(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}"),
    // Clouds.
    checked(
        token("aws-key-id", &["AKIA", "ASIA", "ABIA", "ACCA"], r"[A-Z2-7]{16}"),
        Check::NotExample,
    ),
    checked(
        token(
            "aws-secret-key",
            &[
                "aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "aws_secret_key",
                "AWS_SECRET_KEY", "awsSecretAccessKey", "awsSecretKey", "SecretAccessKey",
                "secretAccessKey", "secret_access_key", "SECRET_ACCESS_KEY", "aws.secretKey",
            ],
            assigned!(r"[A-Za-z0-9/+]{40}"),
        ),
        Check::NotExample,
    ),
    token("aws-bedrock-key", &["ABSK"], r"[A-Za-z0-9+/]{109,269}={0,2}"),
    token("aws-bedrock-key", &["bedrock-api-key-"], r"[A-Za-z0-9+/]{20,4096}={0,2}"),
    token("gcp-api-key", &["AIza"], r"[A-Za-z0-9_-]{35}"),
    token("gcp-oauth-secret", &["GOCSPX-"], r"[A-Za-z0-9_-]{28}"),
    token("gcp-access-token", &["ya29."], r"[A-Za-z0-9_-]{40,1024}"),
    token("azure-storage-key", &["AccountKey="], r"([A-Za-z0-9+/]{86}==)"),
    token("azure-shared-key", &["SharedAccessKey="], r"([A-Za-z0-9+/]{43}=)"),
    led(token("azure-client-secret", &["Q~"], r"[A-Za-z0-9_~.-]{31,34}"), 4, 4, |byte| {
        byte.is_ascii_alphanumeric() || b"_~.".contains(byte)
    }),
    led(
        token("azure-devops-token", &["AZDO"], r"[A-Za-z0-9]{4}"),
        76,
        76,
        u8::is_ascii_alphanumeric,
    ),
    token("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"[a-f0-9]{64}"),
    token("heroku-key", &["HRKU-"], r"AA[A-Za-z0-9_-]{58}"),
    token(
        "heroku-key",
        &["HRKU-"],
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    ),
    token("fly-token", &["fm1r_", "fm1a_", "fm2_"], r"[A-Za-z0-9+/]{100,2048}={0,3}"),
    token("fly-token", &["fo1_"], r"[A-Za-z0-9_-]{43}"),
    token("cloudflare-token", &["cfat_", "cfut_", "cfk_"], r"[A-Za-z0-9]{40}[0-9a-f]{8}"),
    token("cloudflare-ca-key", &["v1.0-"], r"[a-f0-9]{24}-[a-f0-9]{146}"),
    token("vercel-token", &["vcp_", "vci_", "vca_", "vcr_", "vck_"], r"[A-Za-z0-9]{24,64}"),
    token("netlify-token", &["nfp_", "nfc_", "nfo_", "nfu_"], r"[A-Za-z0-9_]{36}"),
    token("supabase-key", &["sbp_"], r"[a-f0-9]{40}"),
    token("supabase-key", &["sb_secret_"], r"[A-Za-z0-9_-]{31}"),
    token(
        "planetscale-token",
        &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
        r"[A-Za-z0-9_.=-]{32,64}",
    ),
    token("alibaba-key-id", &["LTAI"], r"[A-Za-z0-9]{20}"),
    token("tailscale-key", &["tskey-"], r"[a-z]{2,16}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{16,48}"),
    // Infrastructure.
    token("vault-token", &["hvs.", "hvb.", "hvr."], r"[A-Za-z0-9_-]{90,300}"),
    led(
        token("terraform-token", &[".atlasv1."], r"[A-Za-z0-9_=-]{60,70}"),
        14,
        14,
        u8::is_ascii_alphanumeric,
    ),
    token("pulumi-token", &["pul-"], r"[a-f0-9]{40}"),
    token(
        "doppler-token",
        &["dp."],
        r"(?:pt|st|sa|ct|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    token("onepassword-token", &["ops_eyJ"], r"[A-Za-z0-9+/]{250,}={0,3}"),
    token(
        "onepassword-key",
        &["A3-"],
        r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
    ),
    token("databricks-token", &["dapi"], r"[a-fA-F0-9]{32}(?:-\d)?"),
    token("openshift-token", &["sha256~"], r"[A-Za-z0-9_-]{43}"),
    token("prefect-key", &["pnu_", "pnb_"], r"[A-Za-z0-9]{36}"),
    token("octopus-key", &["API-"], r"[A-Z0-9]{26}"),
    token("intra42-secret", &["s-s4t2ud-", "s-s4t2af-"], r"[a-f0-9]{64}"),
    token("scalingo-token", &["tk-us-"], r"[A-Za-z0-9_-]{48}"),
    token("settlemint-token", &["sm_aat_", "sm_pat_", "sm_sat_"], r"[A-Za-z0-9]{16}"),
    token("nebula-key", &["dnkey-"], r"[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}"),
    token("yandex-key", &["AQVN"], r"[A-Za-z0-9_-]{35,38}"),
    token(
        "harness-token",
        &["pat.", "sat."],
        r"[A-Za-z0-9_-]{22}\.[0-9A-Za-z]{24}\.[A-Za-z0-9]{20}",
    ),
    token("clickhouse-key", &["4b1d"], r"[A-Za-z0-9]{38}"),
    // Model providers.
    token(
        "anthropic-key",
        &["sk-ant-"],
        r"(?:api|admin)\d\d-[A-Za-z0-9_-]{76,108}AA|(?:oat|ort)\d\d-[A-Za-z0-9_-]{78,110}",
    ),
    token(
        "openai-key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        r"[A-Za-z0-9_-]{20,}T3BlbkFJ[A-Za-z0-9_-]{20,}",
    ),
    token("openai-key", &["sk-"], r"(?:[A-Za-z0-9]{1,32}-)?[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}"),
    token("openrouter-key", &["sk-or-v1-"], r"[0-9a-f]{64}"),
    token("huggingface-token", &["hf_", "api_org_"], r"[A-Za-z]{34}"),
    token("groq-key", &["gsk_"], r"[A-Za-z0-9]{52}"),
    token("xai-key", &["xai-"], r"[A-Za-z0-9]{80}"),
    token("perplexity-key", &["pplx-"], r"[A-Za-z0-9]{48}"),
    token("replicate-token", &["r8_"], r"[A-Za-z0-9]{37}"),
    token("langsmith-key", &["lsv2_pt_", "lsv2_sk_"], r"[0-9a-f]{32}_[0-9a-f]{10}"),
    token("nvidia-key", &["nvapi-"], r"[A-Za-z0-9_-]{64}"),
    token("cerebras-key", &["csk-"], r"[a-z0-9]{48}"),
    token("pinecone-key", &["pcsk_"], r"[A-Za-z0-9]{5,6}_[A-Za-z0-9]{63}"),
    token("tavily-key", &["tvly-"], r"(?:dev-|prod-)?[A-Za-z0-9]{32}"),
    // Payment.
    token(
        "stripe-key",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"],
        r"[A-Za-z0-9]{24,247}",
    ),
    token("stripe-webhook-secret", &["whsec_"], r"[A-Za-z0-9+/]{32,64}={0,2}"),
    token("square-token", &["sq0atp-"], r"[A-Za-z0-9_-]{22}"),
    token("square-token", &["sq0csp-"], r"[A-Za-z0-9_-]{43}"),
    token("square-token", &["EAAA"], r"[A-Za-z0-9_-]{22,60}"),
    token(
        "braintree-token",
        &["access_token$production$", "access_token$sandbox$"],
        r"[0-9a-z]{16}\$[0-9a-f]{32}",
    ),
    token("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], r"[A-Za-z0-9]{32,38}"),
    token(
        "plaid-token",
        &["access-sandbox-", "access-development-", "access-production-"],
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    ),
    token(
        "flutterwave-key",
        &["FLWSECK-", "FLWSECK_TEST-"],
        r"[A-Za-z0-9]{32}-X|[A-Fa-f0-9]{32}-X",
    ),
    token("flutterwave-key", &["FLWSECK_TEST-"], r"[a-f0-9]{12}"),
    token("duffel-token", &["duffel_live_", "duffel_test_"], r"[A-Za-z0-9_=-]{43}"),
    token("easypost-key", &["EZAK", "EZTK"], r"[A-Za-z0-9]{54}"),
    token("shippo-token", &["shippo_live_", "shippo_test_"], r"[a-fA-F0-9]{40}"),
    // Chat and mail.
    token(
        "slack-token",
        &["xoxb-"],
        r"[0-9]{8,14}-[0-9]{8,14}(?:-[A-Za-z0-9-]{1,64})?|[0-9]{8,14}-[A-Za-z0-9]{18,26}",
    ),
    token(
        "slack-token",
        &["xoxp-", "xoxe-"],
        r"(?:[0-9]{10,13}-){3}[A-Za-z0-9-]{28,34}|(?:\d-)[A-Za-z0-9]{146}",
    ),
    token("slack-token", &["xoxe.xoxb-", "xoxe.xoxp-"], r"\d-[A-Za-z0-9]{163,166}"),
    token("slack-token", &["xoxo-", "xoxs-"], r"\d{5,14}-\d{5,14}(?:-\d{5,14}-[a-fA-F0-9]{8,64})?"),
    token(
        "slack-token",
        &["xoxa-", "xoxr-"],
        r"(?:\d-)?(?:\d{8,14}-\d{8,14}(?:-[A-Za-z0-9-]{1,64})?|[0-9A-Za-z]{8,48})",
    ),
    token("slack-token", &["xapp-"], r"\d-[A-Z0-9]{8,16}-\d{8,16}-[a-z0-9]{32,80}"),
    token(
        "slack-webhook",
        &["hooks.slack.com/services/"],
        r"(T[A-Za-z0-9]{4,16}/B[A-Za-z0-9]{4,16}/[A-Za-z0-9+]{10,32}|[A-Za-z0-9+/]{43,56})",
    ),
    token(
        "slack-webhook",
        &["hooks.slack.com/workflows/", "hooks.slack.com/triggers/"],
        r"([A-Za-z0-9+/]{43,80})",
    ),
    token(
        "discord-webhook",
        &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        r"(\d{17,20}/[A-Za-z0-9_-]{60,80})",
    ),
    checked(
        token(
            "discord-bot-token",
            &["MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"],
            r"[A-Za-z0-9_-]{21,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}",
        ),
        Check::NumberInBase64,
    ),
    led(token("telegram-bot-token", &[":AA"], r"[A-Za-z0-9_-]{33}"), 8, 10, u8::is_ascii_digit),
    token(
        "teams-webhook",
        &["webhook.office.com/webhookb2/"],
        r"([a-z0-9-]{36}@[a-z0-9-]{36}/IncomingWebhook/[a-z0-9]{32}/[a-z0-9-]{36})",
    ),
    token("sendgrid-key", &["SG."], r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}|[A-Za-z0-9_.=-]{66}"),
    token("mailgun-key", &["key-"], r"[0-9a-f]{32}"),
    led(token("mailchimp-key", &["-us"], r"\d{1,2}"), 32, 32, |byte| {
        byte.is_ascii_digit() || (b'a'..=b'f').contains(byte)
    }),
    token("brevo-key", &["xkeysib-"], r"[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    token("resend-key", &["re_"], r"[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
    token("twilio-key", &["SK"], r"[0-9a-f]{32}"),
    // Package registries.
    token("npm-token", &["npm_"], r"[A-Za-z0-9]{36}"),
    token("npm-token", &["_authToken=", "_authToken ="], r"[ \t]?([A-Za-z0-9_-]{20,256})"),
    token(
        "pypi-token",
        &["pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw"],
        r"[A-Za-z0-9_-]{50,1000}",
    ),
    token("rubygems-key", &["rubygems_"], r"[a-f0-9]{48}"),
    token("crates-io-token", &["cio"], r"[A-Za-z0-9]{32}"),
    token("nuget-key", &["oy2"], r"[a-z0-9]{43}"),
    token("docker-token", &["dckr_pat_", "dckr_oat_"], r"[A-Za-z0-9_-]{27,32}"),
    token("clojars-token", &["CLOJARS_"], r"[A-Za-z0-9]{60}"),
    token("jfrog-key", &["AKCp"], r"[A-Za-z0-9]{69}"),
    token("jfrog-key", &["cmVmdGtu"], r"[A-Za-z0-9]{56}"),
    // Monitoring, documents and other services.
    token("sentry-token", &["sntrys_eyJ"], r"[A-Za-z0-9+/=_-]{80,1024}"),
    token("sentry-token", &["sntryu_"], r"[a-f0-9]{64}"),
    token("new-relic-key", &["NRAK-"], r"[A-Za-z0-9]{27}"),
    token("new-relic-key", &["NRII-"], r"[A-Za-z0-9_-]{32}"),
    token("new-relic-key", &["NRJS-"], r"[a-f0-9]{19}"),
    token("grafana-token", &["glc_"], r"[A-Za-z0-9+/]{32,400}={0,3}"),
    token("grafana-token", &["eyJrIjoi"], r"[A-Za-z0-9]{70,400}={0,3}"),
    token("grafana-token", &["glsa_"], r"[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    token(
        "dynatrace-token",
        &["dt0c01.", "dt0s01.", "dt0s16."],
        r"[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}",
    ),
    token("sonarqube-token", &["sqp_", "sqa_", "squ_"], r"[a-f0-9]{40}"),
    token("postman-key", &["PMAK-"], r"[a-fA-F0-9]{24}-[a-fA-F0-9]{34}"),
    token("linear-key", &["lin_api_"], r"[A-Za-z0-9]{40,42}"),
    token("notion-token", &["ntn_"], r"\d{11}[A-Za-z0-9]{35}"),
    token("airtable-token", &["pat"], r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    token("figma-token", &["figd_"], r"[A-Za-z0-9_-]{40,64}"),
    token("contentful-token", &["CFPAT-"], r"[A-Za-z0-9_-]{43}"),
    token("typeform-token", &["tfp_"], r"[A-Za-z0-9_.=-]{59}"),
    token("readme-key", &["rdme_"], r"[A-Za-z0-9]{70}"),
    token("adafruit-key", &["aio_"], r"[A-Za-z0-9]{28}"),
    token("frameio-token", &["fio-u-"], r"[A-Za-z0-9_=-]{64}"),
    token("mapbox-token", &["sk.eyJ"], r"[A-Za-z0-9_-]{40,200}\.[A-Za-z0-9_-]{22}"),
    token("facebook-token", &["EAACEdEose0cBA", "EAAM", "EAAC"], r"[A-Za-z0-9]{100,300}"),
    token(
        "hubspot-token",
        &["pat-na1-", "pat-eu1-"],
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    ),
    // Web tokens and passwords in URLs.
    checked(
        token("jwt", &["eyJ"], r"[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}"),
        Check::Jwt,
    ),
    checked(
        token(
            "database-password",
            &[
                "postgres://", "postgresql://", "mysql://", "mariadb://", "mongodb://",
                "mongodb+srv://", "redis://", "rediss://", "amqp://", "amqps://", "mssql://",
                "sqlserver://", "clickhouse://", "cockroachdb://", "oracle://", "neo4j://",
                "neo4j+s://", "bolt://", "cassandra://", "snowflake://", "libsql://", "nats://",
                "postgresql+psycopg2://", "postgresql+psycopg://", "postgresql+asyncpg://",
                "mysql+pymysql://", "mysql+mysqlconnector://", "mysql+aiomysql://",
                "mssql+pyodbc://", "oracle+oracledb://", "oracle+cx_oracle://",
            ],
            URL_PASSWORD,
        ),
        Check::Password,
    ),
];
