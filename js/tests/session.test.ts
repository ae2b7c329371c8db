import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { FileError, LcpError, LimitError, SessionError, UsageError } from "llm-context-pack";
import { Session } from "llm-context-pack/node";
import type { SessionOptions } from "llm-context-pack/node";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { command, installCommand } from "./platform.js";

let folder: string;
let store: string;

beforeAll(installCommand);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lcp-js-"));
  store = join(folder, "sessions.sqlite");
});

afterEach(() => rm(folder, { recursive: true }));

function open(id: string, options: SessionOptions = {}): Session {
  return new Session(id, { store, model: "gpt-4o", window: 4_000, ...options });
}

function conversation(turns: number): object[] {
  return Array.from({ length: 2 * turns }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: `Turn ${at} about the door. `.repeat(30),
  }));
}

/** Returns the report of the command itself. */
async function report(...args: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(command, [
    "session",
    ...args,
    "--json",
    "--no-config",
    "--store",
    store,
  ]);
  return JSON.parse(stdout);
}

async function failure(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => expect.fail("the call succeeds"),
    (error: unknown) => error,
  );
}

test("appended messages follow those of the session", async () => {
  const session = open("appended");
  await session.record(conversation(1));
  const status = await session.record(conversation(1), { append: true });
  expect(status).toMatchObject({ recorded: 2, messages: 4 });
});

test("a session is recorded, handed over and resumed", async () => {
  const session = open("door");
  const first = await session.record(conversation(2));
  expect(first).toMatchObject({ id: "door", isNew: true, recorded: 4, messages: 4, window: 4_000 });
  // The same conversation with more turns: only those are new.
  const usage = { inputTokens: 3_900, cachedInputTokens: 3_000, outputTokens: 50 };
  const status = await session.record(conversation(10), { usage });
  expect(status).toMatchObject({ isNew: false, recorded: 16, messages: 20, usedTokens: 3_950 });
  expect(status.decision).toBe("hand_off");
  expect((await session.record(conversation(10))).recorded).toBe(0);
  expect((await session.record([], { append: true })).recorded).toBe(0);

  const handoff = await session.handoff({ target: 800 });
  expect(handoff).toMatchObject({ isNew: true, messages: 20, warnings: expect.any(Array) });
  expect(handoff?.tokensAfter).toBeLessThanOrEqual(800);
  expect((await handoff?.pack.blocks())?.length).toBeGreaterThan(0);
  expect((await session.status()).handoff).toBe(handoff?.id);

  const id = handoff?.id ?? "";
  const resumed = await Session.resume(id, { id: "door-2", store, outputReserve: 500 });
  expect(resumed.previous).toBe("door");
  expect(resumed.text).toContain("door");
  expect(resumed.tokens).toBeLessThanOrEqual(800);
  expect(resumed.session.id).toBe("door-2");
  expect(await resumed.session.status()).toMatchObject({ window: 4_000, outputReserve: 500 });
  const twice = await failure(Session.resume(id, { store }));
  expect(twice).toBeInstanceOf(SessionError);
  // The hint is about a flag.
  expect(twice).toMatchObject({ code: "already_resumed", hint: null });
  const again = await Session.resume(id, { store, again: true });
  expect([again.text, again.session.id]).toEqual([resumed.text, "door-2"]);
  const listed = (await Session.list({ store })).map(({ id }) => id);
  expect(listed.sort()).toEqual(["door", "door-2"]);
});

test("messages after a hand-off follow its prompt", async () => {
  const session = open("late");
  await session.record(conversation(3));
  const handoff = await session.handoff({ when: "always" });
  await session.record(conversation(4));
  const { text } = await Session.resume(handoff?.id ?? "", { store });
  expect(text).toContain("Turn 7 about");
  const args = [
    "session",
    "resume",
    "--repeat",
    handoff?.id ?? "",
    "--store",
    store,
    "--no-config",
  ];
  expect(text).toBe((await promisify(execFile)(command, args)).stdout);
});

test("a hand-off is prepared under its condition", async () => {
  const session = open("calm");
  await session.record(conversation(1));
  expect(await session.handoff()).toBeNull();
  expect(await session.handoff({ when: "once" })).toBeNull();
  expect((await session.handoff({ when: "always" }))?.isNew).toBe(true);
  expect((await session.handoff({ when: "always" }))?.isNew).toBe(false);
});

test("a compaction keeps the newest turn", async () => {
  const session = open("long");
  await session.record(conversation(20));
  const compaction = await session.compact({ ifDue: true });
  expect(compaction).toMatchObject({ isDone: true, reason: null });
  expect(compaction.usedTokens).toBeLessThan(4_000);
  expect(await compaction.pack.render()).toContain("Turn 39");
  const second = await session.compact();
  expect(second).toMatchObject({ isDone: false, usedTokens: compaction.usedTokens });
  expect(second.reason).toContain("no compaction is needed");
  expect(await session.usage()).toMatchObject({ window: 4_000 });
});

test("a session that does not exist has a status of zeros", async () => {
  const session = new Session("missing", { store });
  const zeros = { id: "missing", messages: 0, window: 0, usedTokens: 0, decision: "none" };
  expect(await session.status()).toMatchObject(zeros);
  expect(await Session.list({ store })).toEqual([]);
  const noStore = await failure(session.handoff());
  expect(noStore).toBeInstanceOf(FileError);
  expect(noStore).toMatchObject({ code: "no_store" });
  expect(await readdir(folder)).toEqual([]);

  const known = await open("known").record(conversation(1));
  const unknown = await session.status();
  expect(unknown).toMatchObject(zeros);
  // The same fields, also within objects.
  const fields = (value: unknown): unknown =>
    typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, it]) => [key, fields(it)]))
      : null;
  expect(fields({ ...unknown.toJSON(), warnings: [] })).toEqual(fields(known.toJSON()));
  // There is a file with this name.
  const file = new Session(join(folder, "sessions.sqlite"), { store });
  const calls = [
    () => session.handoff(),
    () => session.usage(),
    () => session.compact(),
    () => file.compact(),
  ];
  for (const call of calls) {
    const error = await failure(call());
    expect(error).toBeInstanceOf(SessionError);
    expect(error).toMatchObject({ code: "unknown_conversation", hint: null });
  }
});

test("reports are those of the command", async () => {
  const session = open("door");
  await session.record(conversation(8));
  const { warnings, ...status } = (await report("record", "door")) as { warnings: string[] };
  expect((await session.status()).toJSON()).toEqual({ warnings, ...status });
  expect((await session.status()).warnings).toEqual(warnings);
  expect(await session.usage()).toEqual(await report("usage", "door"));
  expect({ schema: "lcp.store.v1", conversations: await Session.list({ store }) }).toEqual(
    await report("list"),
  );
  const handoff = await session.handoff({ when: "always" });
  const same = await report("handoff", "door", "--force");
  expect({ ...handoff?.toJSON(), new: false }).toEqual(same);
  const resumed = await Session.resume(handoff?.id ?? "", { store });
  expect(resumed.toJSON()).toEqual(await report("resume", "--repeat", handoff?.id ?? ""));
  await open("long").record(conversation(20));
  const planned = (await report("compact", "long", "--dry-run")) as { compaction: object };
  const { compaction } = (await open("long").compact()).toJSON();
  expect(compaction).toEqual(planned.compaction);
  expect((await open("long").compact()).toJSON()).toEqual(await report("compact", "long"));
});

test("a status does not change the window of the session", async () => {
  await open("door").record(conversation(1));
  const other = new Session("door", { store, model: "gpt-4.1" });
  expect((await other.status()).window).toBe(4_000);
  expect((await other.record([])).window).toBeGreaterThan(1_000_000);
});

test("settings files have no effect", async () => {
  await writeFile(join(folder, "lcp.toml"), "[continuity]\nstore = 5\n");
  const before = process.cwd();
  try {
    process.chdir(folder);
    expect((await open("door").record(conversation(1))).recorded).toBe(2);
  } finally {
    process.chdir(before);
  }
});

test("warnings are those of the command", async () => {
  const key = ["AKIA", "Q3EGRIO5LWVNVJ2B"].join("");
  const messages = [{ role: "user", content: `My key is ${key}.` }];
  const found = await open("listed").record(messages);
  expect(found.warnings).toEqual([expect.stringContaining("found 1 secret")]);
  const replaced = await open("secret").record(messages, { secrets: "redact" });
  expect(replaced.warnings).toEqual([expect.stringContaining("replaced 1 secret")]);
  expect((await open("off").record(messages, { secrets: "off" })).warnings).toEqual([]);
  const assumed = await new Session("assumed", { store }).record(messages, { secrets: "off" });
  expect(assumed.warnings).toEqual([expect.stringContaining("64,000 tokens are assumed")]);
});

test.each(["-", "--help", "-o x", "a b'\"$&日本語", "../door", "[held]"])(
  "%j is an ID",
  async (id) => {
    const session = open(id);
    expect(await session.record(conversation(1))).toMatchObject({ id, recorded: 2 });
    expect((await session.status()).messages).toBe(2);
    expect((await session.usage())["conversation"]).toBe(id);
    const handoff = await session.handoff({ when: "always" });
    const resumed = await Session.resume(handoff?.id ?? "", { store, id: `-${id}` });
    expect(resumed).toMatchObject({ previous: id, session: { id: `-${id}` } });
  },
);

test("the address of a database is no argument", async () => {
  const script = `#!/bin/sh
for argument; do
  case "$argument" in
    *word*) exit 1 ;;
    --config=*) grep -q '"postgres://user:word@host/name"' "\${argument#--config=}" || exit 1 ;;
  esac
done
echo '{ "conversations": [] }'
`;
  const printer = join(folder, "lcp");
  await writeFile(printer, script, { mode: 0o755 });
  const options = { store: "postgres://user:word@host/name", command: printer };
  expect(await Session.list(options)).toEqual([]);
  const error = await failure(Session.list({ ...options, command, store: "postgres://[:1/name" }));
  expect(error).toBeInstanceOf(LcpError);
});

test("packs leave no temporary files", async () => {
  const temporary = join(folder, "temporary");
  vi.stubEnv("TMPDIR", temporary);
  try {
    const session = open("door");
    await session.record(conversation(1));
    const error = await failure(session.handoff());
    expect(error).toBeInstanceOf(FileError);
    expect((error as FileError).message).toContain("cannot create a temporary folder");
    await mkdir(temporary);
    expect(await session.handoff()).toBeNull();
    expect(await session.handoff({ when: "always" })).not.toBeNull();
    expect((await session.compact()).isDone).toBe(false);
    await failure(session.handoff({ when: "always", target: 1 }));
    expect(await readdir(temporary)).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
  }
});

test("arguments of another type are named", async () => {
  const session = open("a");
  const record = (messages: unknown, options: object = {}): Promise<unknown> =>
    session.record(messages as object[], options);
  const calls: [() => unknown, string][] = [
    [() => new Session(5 as never), "id: expected a string, got number"],
    [() => open("\ud800"), "id: half of a surrogate pair (\\ud800 at index 0)"],
    [() => new Session("a", null as never), "options: expected an object, got null"],
    [() => open("a", { store: 5 as never }), "store: expected a string, got number"],
    [
      () => open("a", { window: 0 }),
      "window: expected a number of tokens from 1 to 2^32 - 1, got 0",
    ],
    [() => open("a", { outputReserve: 1.5 }), "outputReserve: expected a number of tokens"],
    [
      () => open("a", { wait: -1 }),
      "wait: expected a number of seconds from 0 to 2^32 - 1, got -1",
    ],
    [() => open("a", { command: 5 as never }), "command: expected a string, got number"],
    [() => record("Hi"), "messages: expected an array, got string"],
    [() => record(["Hi"]), "messages[0]: expected an object, got string"],
    [() => record([], { usage: 5 }), "usage: expected an object, got number"],
    [() => record([], { usage: {} }), "usage.inputTokens: expected a number of tokens"],
    [
      () => record([], { usage: { inputTokens: 5, cachedInputTokens: 6 } }),
      "usage.cachedInputTokens: expected at most usage.inputTokens",
    ],
    [() => record([], { secrets: 5 }), "secrets: expected a string, got number"],
    [
      () => session.handoff({ when: "never" as never }),
      'when: expected one of due, once, always, got "never"',
    ],
    [() => session.handoff({ target: 0 }), "target: expected a number of tokens from 1"],
    [() => Session.resume(5 as never), "handoff: expected a string, got number"],
    [() => Session.resume("h", { id: 5 as never }), "id: expected a string, got number"],
    [() => Session.list({ store: 5 as never }), "store: expected a string, got number"],
  ];
  for (const [call, message] of calls) {
    const error = await failure((async () => call())());
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).message).toContain(message);
  }
});

test("errors of the command have its code", async () => {
  const error = (session: Session): Promise<unknown> => failure(session.record(conversation(1)));
  const errors: [Session, typeof LcpError, string][] = [
    [
      open("a", { store: "mysql://host/name" }),
      UsageError,
      "must be a path or a PostgreSQL address",
    ],
    [open("a", { model: "no-such-model", window: undefined }), UsageError, "unknown model"],
    [open("a", { outputReserve: 5_000 }), UsageError, "the output reserve (5000 tokens)"],
    [open("a".repeat(5_000)), LimitError, "an ID exceeds"],
    [open("a\0b"), UsageError, 'a null character in "a\\u0000b"'],
    [open("a", { command: join(folder, "lcp") }), FileError, "cannot run"],
  ];
  for (const [session, Class, message] of errors) {
    const thrown = await error(session);
    expect(thrown).toBeInstanceOf(Class);
    expect((thrown as LcpError).message).toContain(message);
  }
  const session = open("edited");
  await session.record(conversation(2));
  const differs = await failure(session.record(conversation(3).slice(1)));
  expect(differs).toBeInstanceOf(SessionError);
  expect(differs).toMatchObject({ code: "differs", hint: null });
  expect(await failure(Session.resume("h-none", { store }))).toMatchObject({
    code: "unknown_handoff",
  });
});
