import fc from "fast-check";
import { Tiktoken } from "js-tiktoken/lite";
import cl100k from "js-tiktoken/ranks/cl100k_base";
import o200k from "js-tiktoken/ranks/o200k_base";
import p50k from "js-tiktoken/ranks/p50k_base";
import r50k from "js-tiktoken/ranks/r50k_base";
import { Encoding, LcpError, UsageError, count, countBatch, init } from "llm-context-pack";
import { describe, expect, test } from "vitest";

const PEERS = {
  o200k_base: new Tiktoken(o200k),
  cl100k_base: new Tiktoken(cl100k),
  p50k_base: new Tiktoken(p50k),
  r50k_base: new Tiktoken(r50k),
};

const TEXTS = [
  "",
  "a budget is a promise",
  'fn main() {\n    println!("{}", 1_000);\n}\n',
  "Größe, naïve, Ελληνικά, עברית",
  "日本語のテキスト",
  "🦀 👩‍👩‍👧‍👦",
  "x".repeat(300),
  " ".repeat(50) + "\t\n\n",
  "don't   stop 12345678",
  "<|endoftext|>",
];

describe.each(Object.entries(PEERS))("%s", (name, peer) => {
  const ids = (text: string): number[] => peer.encode(text, [], []);

  test("counts and ids are those of js-tiktoken", async () => {
    const encoding = await Encoding.load(name);
    expect(encoding.name).toBe(name);
    expect(encoding.isExact).toBe(true);
    expect(encoding.countBatch(TEXTS)).toEqual(TEXTS.map((text) => ids(text).length));
    for (const text of TEXTS) {
      expect([...encoding.encode(text)]).toEqual(ids(text));
      expect(encoding.decode(encoding.encode(text))).toBe(text);
    }
  });

  test("counts and ids of any text are those of js-tiktoken", async () => {
    const encoding = await Encoding.load(name);
    const texts = fc.string({ unit: "grapheme", maxLength: 40 });
    fc.assert(
      fc.property(texts, (text) => {
        expect([...encoding.encode(text)]).toEqual(ids(text));
        expect(encoding.count(text)).toBe(ids(text).length);
      }),
    );
  });
});

test("models choose the encoding", async () => {
  expect((await Encoding.load({ model: "gpt-5" })).name).toBe("o200k_base");
  expect((await Encoding.load({ model: "gpt-4" })).name).toBe("cl100k_base");
  expect((await Encoding.load({ model: "claude-sonnet-4-5" })).isExact).toBe(false);
  expect(await count("a budget is a promise", { model: "gpt-5" })).toBe(5);
  expect(await count("a budget is a promise")).toBe(5);
  expect(await countBatch(["hello world", ""], { encoding: "cl100k_base" })).toEqual([2, 0]);
});

test("a character can have several tokens", async () => {
  const encoding = await Encoding.load("cl100k_base");
  const ids = encoding.encode("🦀");
  expect(encoding.decodeBytes(ids.slice(0, 1))).toEqual(new Uint8Array([0xf0, 0x9f]));
  expect(encoding.decode(ids.slice(0, 1))).toBe("\ufffd");
});

test("unknown names are errors", async () => {
  const model = count("text", { model: "no-such-model" });
  // Hints of the command name flags, which JavaScript does not have.
  await expect(model).rejects.toMatchObject({ name: "UsageError", hint: null });
  await expect(model).rejects.toThrow('unknown model "no-such-model"');
  await expect(Encoding.load("no_such_encoding")).rejects.toThrow("expected one of: o200k_base");
  await expect(Encoding.load("./tokenizer.json")).rejects.toThrow(LcpError);
  await expect(count("text", { model: "llama-3.1-70b" })).rejects.toThrow("not built in");
});

test("bad input names the argument", async () => {
  const encoding = await Encoding.load();
  const bad: [() => unknown, string][] = [
    [() => encoding.count(5 as never), "text: expected a string, got number"],
    [() => encoding.count("a\ud800"), "text: half of a surrogate pair (\\ud800 at index 1)"],
    [() => encoding.encode(null as never), "text: expected a string, got null"],
    [() => encoding.countBatch("text" as never), "texts: expected an array, got string"],
    [() => encoding.countBatch(["", []] as never), "texts[1]: expected a string, got array"],
    [() => encoding.decode([1.5]), "ids: expected numbers of tokens, got 1.5"],
    [() => encoding.decode([24912, 4_000_000_000]), "position 1"],
  ];
  for (const [call, message] of bad) {
    expect(call).toThrow(UsageError);
    expect(call).toThrow(message);
  }
  await expect(count(5 as never)).rejects.toThrow("text: expected a string");
  await expect(count("", "gpt-5" as never)).rejects.toThrow("options: expected an object");
  await expect(count("", { model: 5 as never })).rejects.toThrow("model: expected a string");
  const claude = await Encoding.load({ model: "claude-sonnet-4-5" });
  expect(() => claude.encode("text")).toThrow("no public ids");
});

test("other files are not taken for vocabularies", async () => {
  const load = (name: string, bytes: unknown): Promise<void> =>
    init({ vocabularies: { [name]: bytes as Uint8Array } });
  await expect(load("o200k_base", new Uint8Array(5))).rejects.toThrow("got 5 bytes");
  await expect(load("p50k_base", new Uint8Array(301_686))).rejects.toThrow("has other bytes");
  await expect(load("o300k", new Uint8Array(5))).rejects.toThrow('unknown vocabulary "o300k"');
  await expect(load("o200k_base", "text")).rejects.toThrow(
    "vocabularies.o200k_base: expected bytes",
  );
});

test("texts of many megabytes are counted", async () => {
  expect(await count("hello ".repeat(5_000_000))).toBe(5_000_001);
});
