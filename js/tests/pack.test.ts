import { MalformedError, OverBudgetError, Pack, UsageError, count } from "llm-context-pack";
import type { ManifestBlock } from "llm-context-pack";
import { expect, test } from "vitest";

const FILES = ["door", "table", "sail"].map((name) => ({
  path: `${name}.py`,
  content: Array.from(
    { length: 200 },
    (_, at) => `def ${name}_${at}():\n    return ${at}\n\n\n`,
  ).join(""),
}));
const HINGE = { path: "hinge.py", content: "def turn_the_hinge():\n    return True\n" };

test("the query decides what a budget shows", async () => {
  const pack = await Pack.fromFiles([...FILES, HINGE], { query: "why does the hinge not turn?" });
  for (const mode of ["xml", "markdown", "minimal"] as const) {
    const text = await pack.render({ budget: 400, mode });
    expect(text).toContain("def turn_the_hinge():");
    expect(await count(text)).toBeLessThanOrEqual(400);
  }
  expect(await pack.render()).toContain("def sail_199():");
});

test("mentioned files come first", async () => {
  const pack = await Pack.fromFiles([...FILES, HINGE], { mentions: ["hinge.py"] });
  expect(await pack.render({ budget: 400 })).toContain("def turn_the_hinge():");
});

test("packs are saved and read", async () => {
  const pack = await Pack.fromFiles(FILES);
  const bytes = pack.toBytes();
  const read = await Pack.fromBytes(bytes);
  // The bytes belong to the caller.
  bytes.fill(0);
  expect(read.toBytes()).toEqual(pack.toBytes());
  expect(await read.render({ budget: 500 })).toBe(await pack.render({ budget: 500 }));
});

test("transcripts are packed", async () => {
  const messages = Array.from({ length: 61 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: `Words of turn ${at}. `.repeat(20),
  }));
  const log = messages
    .map((message) => JSON.stringify({ type: message.role, message, sessionId: "s" }))
    .join("\n");
  const encoder = new TextEncoder();
  for (const transcript of [JSON.stringify(messages), encoder.encode(log)]) {
    const pack = await Pack.fromTranscript(transcript);
    const text = await pack.render({ budget: 500, mode: "minimal" });
    expect(text).toContain("Words of turn 60.");
    expect(text).not.toContain("Words of turn 9.");
    expect(await count(text)).toBeLessThanOrEqual(500);
  }
  const key = ["AKIA", "Q3EGRIO5LWVNVJ2B"].join("");
  const pack = await Pack.fromTranscript(`# User\n\nMy key is ${key}.\n`, { format: "markdown" });
  expect(await pack.render()).toMatch(/My key is \[secret .*\]\./);
  expect(pack.warnings.join()).toContain("secret");
  const unredacted = await Pack.fromTranscript(`# User\n\nMy key is ${key}.\n`, { secrets: "off" });
  expect(await unredacted.render()).toContain(key);
});

test("blocks of all types are packed and returned", async () => {
  const blocks: ManifestBlock[] = [
    { type: "conversation", role: "user", content: "Why does the door stick?" },
    { type: "code", path: "door.py", content: "stuck = True\n", priority: "high" },
    { type: "tool_result", tool_name: "read", content: "It sticks.\n", summary: "It sticks." },
    { type: "image", media_type: "png", alt_text: "A door", data: "iVBORw==" },
  ];
  const pack = await Pack.fromBlocks(blocks);
  const text = await pack.render({ mode: "minimal" });
  expect(text).toContain("stuck = True");
  const contents = (await pack.blocks()).filter(({ tokens }) => tokens !== null);
  const types = ["conversation", "code", "tool-result", "image"];
  expect(contents.map(({ type }) => type)).toEqual(types);
  // Priorities are blocks of their own.
  const manifest = await pack.toManifest();
  expect(manifest[1]).toMatchObject({ type: "code", path: "door.py", content: "stuck = True\n" });
  expect((await Pack.fromBlocks(manifest)).toBytes()).toEqual(pack.toBytes());
});

test("system messages that exceed the budget are an error", async () => {
  const system = { role: "system", content: "Answer briefly. ".repeat(100) };
  const pack = await Pack.fromTranscript(JSON.stringify([system]));
  await expect(pack.render({ budget: 100 })).rejects.toThrow(OverBudgetError);
});

test("bytes in any character set are packed", async () => {
  const content = new Uint8Array([...Buffer.from("caf\xe9, gr\xfcn\n", "latin1")]);
  const pack = await Pack.fromFiles([{ path: "menu.txt", content }]);
  expect(await pack.render({ mode: "minimal" })).toContain("café, grün");
});

test("the report has the decisions", async () => {
  const pack = await Pack.fromFiles([...FILES, HINGE]);
  const { text, report } = await pack.renderWithReport({ budget: 400, model: "gpt-4" });
  expect(report["used_tokens"]).toBe(await count(text, { model: "gpt-4" }));
  expect(report).toMatchObject({ budget: 400, encoding: "cl100k_base" });
});

test("replaced secrets are reported", async () => {
  const key = ["AKIA", "Q3EGRIO5LWVNVJ2B"].join("");
  const pack = await Pack.fromFiles([{ path: "key.py", content: `KEY = "${key}"\n` }]);
  expect(await pack.render()).not.toContain(key);
  expect(pack.warnings.join()).toContain("secret");
});

test("blocks have types, labels, tokens and contents", async () => {
  const image = new Uint8Array([0x89, 0x50, 0x4e, 0x47]);
  const pack = await Pack.fromFiles([HINGE, ...FILES], { priorities: { "hinge.*": "high" } });
  const blocks = await pack.blocks({ encoding: "cl100k_base" });
  expect(blocks.map(({ index }) => index)).toEqual(blocks.map((_, at) => at));
  const hinge = blocks.find(({ label }) => label === HINGE.path);
  expect(hinge).toEqual({
    index: hinge?.index,
    type: "code",
    label: HINGE.path,
    priority: "high",
    tokens: await count(HINGE.content, { encoding: "cl100k_base" }),
    content: HINGE.content,
  });
  expect(blocks.find(({ type }) => type === "annotation")).toMatchObject({
    priority: null,
    tokens: null,
  });

  const url = `data:image/png;base64,${Buffer.from(image).toString("base64")}`;
  const content = [{ type: "image_url", image_url: { url } }];
  const chat = await Pack.fromTranscript(JSON.stringify([{ role: "user", content }]));
  const picture = (await chat.blocks()).find(({ type }) => type === "image");
  expect(picture?.content).toEqual(image);
});

test("duplicates are removed, and shares divide the budget", async () => {
  const copy = { ...HINGE, path: "copy.py" };
  const files = [HINGE, copy];
  const count = async (pack: Pack, dedup?: "exact") =>
    (await pack.render({ dedup })).split("def turn_the_hinge").length - 1;
  expect(await count(await Pack.fromFiles(files))).toBe(2);
  expect(await count(await Pack.fromFiles(files, { dedup: "exact" }))).toBe(1);
  expect(await count(await Pack.fromFiles(files), "exact")).toBe(1);

  const pack = await Pack.fromFiles(FILES);
  const { report } = await pack.renderWithReport({ budget: 400, shares: "agent" });
  expect(report["shares"]).toBeTruthy();
});

test("bad packs and arguments are errors", async () => {
  await expect(Pack.fromBytes(Buffer.from("no pack"))).rejects.toThrow(MalformedError);
  await expect(Pack.fromTranscript("{}")).rejects.toThrow("unknown transcript format");
  await expect(Pack.fromTranscript('[{"role": ')).rejects.toThrow(/line 1/);
  await expect(Pack.fromBlocks([{ type: "song" }])).rejects.toThrow(MalformedError);
  await expect(Pack.fromBlocks([{ type: "code", content_file: "a.py" }])).rejects.toThrow("a.py");
  const pack = await Pack.fromFiles(FILES);
  await expect(pack.blocks({ encoding: "no-such" })).rejects.toThrow("unknown encoding");
  const calls: [() => Promise<unknown>, string][] = [
    [() => Pack.fromBytes("text" as never), "bytes: expected a Uint8Array, got string"],
    [() => Pack.fromFiles([]), "files: the list is empty"],
    [() => Pack.fromFiles("text" as never), "files: expected an array"],
    [() => Pack.fromFiles([{ path: "a.ts" } as never]), "files[0].content: expected a string"],
    [() => Pack.fromFiles([null as never]), "files[0].path: expected a string"],
    [() => Pack.fromFiles(FILES, { mentions: [5 as never] }), "mentions[0]: expected a string"],
    [() => Pack.fromBlocks({} as never), "blocks: expected an array, got object"],
    [() => Pack.fromBlocks([null as never]), "blocks[0]: expected an object, got null"],
    [
      () => Pack.fromTranscript("[]", { secrets: "keep" as never }),
      "secrets: expected one of redact",
    ],
    [() => Pack.fromTranscript(5 as never), "transcript: expected a string"],
    [
      () => Pack.fromTranscript("[]", { format: "pdf" as never }),
      "format: expected one of openai-chat, openai-responses, anthropic",
    ],
    [() => pack.render({ budget: -1 }), "budget: expected"],
    [
      () => pack.render({ mode: "html" as never }),
      'mode: expected one of xml, markdown, minimal, got "html"',
    ],
    [() => pack.render({ model: "no-such-model" }), "unknown model"],
    [() => pack.render({ shares: "most" as never }), "shares: expected one of conversation, agent"],
    [() => pack.render({ dedup: "all" as never }), "dedup: expected one of off, exact"],
    [() => Pack.fromFiles(FILES, { secrets: "keep" as never }), "secrets: expected one of"],
    [() => Pack.fromFiles(FILES, { priorities: [] as never }), "priorities: expected an object"],
    [
      () => Pack.fromFiles(FILES, { priorities: { "*.py": "top" as never } }),
      "priorities: expected one of critical, high",
    ],
  ];
  for (const [call, message] of calls) {
    const result = call();
    await expect(result).rejects.toThrow(UsageError);
    await expect(result).rejects.toThrow(message);
  }
});
