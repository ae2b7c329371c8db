import fc from "fast-check";
import { Tiktoken } from "js-tiktoken/lite";
import o200k from "js-tiktoken/ranks/o200k_base";
import { FitReport, OverBudgetError, UsageError, fitMessages } from "llm-context-pack";
import { expect, test } from "vitest";

interface Call {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

interface Message {
  role: string;
  content: string | null;
  tool_calls?: Call[];
  tool_call_id?: string;
}

const peer = new Tiktoken(o200k);

const WORDS = ["budget", "pack", "the", "reads", "a file", "of 日本語", "\n", "fn main() {}", "🦀"];
const texts = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 60 })
  .map((words) => words.join(" "));

function turn(index: number, question: string, result: string, answer: string): Message[] {
  const call: Call = {
    id: `call_${index}`,
    type: "function",
    function: { name: "read", arguments: JSON.stringify({ path: `${index}.txt` }) },
  };
  return [
    { role: "user", content: question },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: `call_${index}`, content: result },
    { role: "assistant", content: answer },
  ];
}

const turns = fc.array(fc.tuple(texts, texts, fc.integer({ min: 1, max: 9 }), texts), {
  maxLength: 8,
});
const histories = fc
  .tuple(fc.option(texts), turns, texts)
  .map(([system, turns, last]): Message[] => [
    ...(system === null ? [] : [{ role: "system", content: system }]),
    ...turns.flatMap(([question, result, times, answer], index) =>
      turn(index, question, result.repeat(times), answer),
    ),
    { role: "user", content: last },
  ]);

/** Counts the texts and calls of messages by another library. */
function tokens(messages: readonly Message[]): number {
  const count = (text: string): number => peer.encode(text, [], []).length;
  const calls = messages.flatMap((message) => message.tool_calls ?? []);
  return [
    ...messages.map((message) => message.content ?? ""),
    ...calls.map((call) => call.function.name + call.function.arguments),
  ].reduce((sum, text) => sum + count(text), 0);
}

test("fitted messages keep the laws", { timeout: 120_000 }, async () => {
  const law = fc.asyncProperty(
    histories,
    fc.integer({ min: 200, max: 3_000 }),
    async (messages, budget) => {
      const { messages: fitted, report } = await fitMessages(messages, { budget });
      expect(tokens(fitted)).toBeLessThanOrEqual(report.usedTokens);
      expect(report.usedTokens).toBeLessThanOrEqual(budget);
      // Calls and results come in pairs, in their order.
      const calls = fitted.flatMap((message) => message.tool_calls ?? []).map((call) => call.id);
      const results = fitted.filter((message) => message.role === "tool");
      expect(results.map((message) => message.tool_call_id)).toEqual(calls);
      expect(calls).toEqual(calls.toSorted());
      // The newest turn of the user and the system messages are kept.
      expect(fitted.at(-1)).toEqual(messages.at(-1));
      if (messages[0]?.role === "system") {
        expect(fitted[0]).toBe(messages[0]);
      }
      // A second fit changes nothing.
      expect((await fitMessages(fitted, { budget })).messages).toEqual(fitted);
    },
  );
  await fc.assert(law, { numRuns: 100 });
});

test("messages that fit are the same objects", async () => {
  const messages = turn(0, "What?", "That.", "So.");
  const result = await fitMessages(messages, { budget: 1_000 });
  expect(result.isUnchanged).toBe(true);
  expect(result.note).toBeNull();
  expect(result.messages).not.toBe(messages);
  result.messages.forEach((message, at) => expect(message).toBe(messages[at]));
  const { report } = result;
  expect(report).toBeInstanceOf(FitReport);
  expect(report).toMatchObject({ exact: true, encoding: "o200k_base", budget: 1_000 });
  expect(JSON.parse(JSON.stringify(report))).toMatchObject({ schema: "lcp.export.v1" });
});

test("messages that did not change are the same objects", async () => {
  const messages = [
    { role: "user", content: "word ".repeat(400) },
    { role: "assistant", content: "Yes.", refusal: null },
    { content: [{ text: "So.", type: "text" }], role: "assistant" },
    { role: "user", content: "And now?" },
  ];
  const fitted = await fitMessages<object>(messages, { budget: 200 });
  expect(fitted.isUnchanged).toBe(false);
  expect(fitted.messages.slice(-3).every((it, at) => it === messages[at + 1])).toBe(true);
});

test("messages of Anthropic have a note", async () => {
  const messages = Array.from({ length: 41 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: `Words of turn ${at}. `.repeat(20),
  }));
  const model = "claude-sonnet-4-5";
  const { messages: fitted, note, report } = await fitMessages(messages, { budget: 600, model });
  expect(report.exact).toBe(false);
  expect(note).toContain("omitted");
  expect(fitted.every((message) => message.role !== "system")).toBe(true);
  expect(fitted.at(-1)).toBe(messages.at(-1));
});

test("parts of Anthropic are unchanged if they fit", async () => {
  const image = { type: "base64", media_type: "image/png", data: "aGVsbG8=" };
  const messages = [
    { role: "user", content: [{ type: "image", source: image }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "c2lnbmVk" },
        { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "a" }] },
  ];
  const result = await fitMessages<object>(messages, { budget: 2_000 });
  expect(result.isUnchanged).toBe(true);
});

test("messages that must be kept and exceed the budget are an error", async () => {
  const messages = [
    { role: "system", content: "word ".repeat(500) },
    { role: "user", content: "Hi" },
  ];
  const fitted = fitMessages(messages, { budget: 100 });
  await expect(fitted).rejects.toThrow(OverBudgetError);
  await expect(fitted).rejects.toThrow("over the budget of 100");
  await expect(fitted).rejects.toMatchObject({ code: "LCP-BUD-001" });
});

test("removed calls are reported", async () => {
  const messages = turn(0, "What?", "That.", "So.").slice(0, 2);
  const result = await fitMessages(messages, { budget: 1_000 });
  expect(result.messages).toEqual(messages.slice(0, 1));
  expect(result.report.warnings.join()).toContain("without a result");
});

const user = [{ role: "user", content: "a" }];
const circular: Record<string, unknown> = { role: "user" };
circular["content"] = circular;

test.each<[unknown, unknown, string]>([
  ["text", { budget: 100 }, "messages: expected an array, got string"],
  [[], { budget: 100 }, "messages: the list is empty"],
  [user, undefined, "options: expected an object"],
  [user, {}, "budget: expected a number of tokens from 1 to 2^32 - 1, got undefined"],
  [user, { budget: 0 }, "budget: expected a number"],
  [user, { budget: 1.5 }, "budget: expected a number"],
  [user, { budget: "100" }, 'budget: expected a number of tokens from 1 to 2^32 - 1, got "100"'],
  [[5], { budget: 100 }, "messages[0]: expected an object, got number"],
  [[circular], { budget: 100 }, "messages[0]: Converting circular structure"],
  [[{ role: "user", content: 1n }], { budget: 100 }, "messages[0]: Do not know how"],
  [
    [...user, { role: "user", content: ["\\ud800", "b\udc00"] }],
    { budget: 100 },
    "messages[1]: half of a surrogate pair (\\udc00 at index 1)",
  ],
  [user, { budget: 100, model: 5 }, "model: expected a string, got number"],
  [user, { budget: 100, model: "no-such-model" }, "unknown model"],
  [user, { budget: 100, format: "xml" }, "format: expected one of openai-chat"],
])("bad input %# names the argument", async (messages, options, message) => {
  const fitted = fitMessages(messages as object[], options as never);
  await expect(fitted).rejects.toThrow(UsageError);
  await expect(fitted).rejects.toThrow(message);
});

test("messages without roles are an error", async () => {
  await expect(fitMessages([{ no: "role" }], { budget: 100 })).rejects.toThrow("messages");
});

test("texts that only look like halves of surrogate pairs are kept", async () => {
  const messages = [{ role: "user", content: "\\ud800 and 🦀" }];
  expect((await fitMessages(messages, { budget: 100 })).messages).toEqual(messages);
});

test("the next turn keeps the messages of the previous one", async () => {
  const messages: Message[] = [{ role: "system", content: "Be brief." }];
  let previous: Awaited<ReturnType<typeof fitMessages<Message>>> | undefined;
  let appended = 0;
  for (let at = 0; at < 24; at += 1) {
    const file = `Line ${at} of a file. `.repeat(40);
    messages.push(...turn(at, `Question ${at}?`, file, `Answer ${at}.`));
    messages.push({ role: "user", content: `And ${at}?` });
    const before = previous?.messages ?? [];
    const options = { budget: 3_000, headroom: 0.3, previous };
    const result = await fitMessages(messages, options);
    expect(result.report.usedTokens).toBeLessThanOrEqual(3_000);
    expect(result.messages.at(-1)).toBe(messages.at(-1));
    const again = await fitMessages(result.messages, { budget: 3_000 });
    expect(again.isUnchanged).toBe(true);
    expect(again.report.usedTokens).toBe(result.report.usedTokens);
    if (result.isAppended) {
      appended += 1;
      expect(result.messages).toEqual([...before, ...messages.slice(-5)]);
    }
    previous = result;
  }
  expect(appended).toBeGreaterThan(12);
});

test("pinned messages stay complete in each turn", async () => {
  const file = "A line of a file. ".repeat(60);
  const messages: Message[] = [
    ...Array.from({ length: 12 }, (_, at) => turn(at, `What is in ${at}?`, file, "Lines.")).flat(),
    { role: "user", content: "And in all of them?" },
  ];
  const budget = 1_500;
  const result = messages[6]!;
  const cut = await fitMessages(messages, { budget });
  expect(cut.messages).not.toContain(result);
  const fitted = await fitMessages(messages, { budget, pinned: [6], previous: cut });
  expect(fitted.isAppended).toBe(false);
  expect(fitted.report.usedTokens).toBeLessThanOrEqual(budget);
  expect(fitted.messages).toContain(result);
  expect(fitted.messages).toContain(messages[5]);
  const next = [...messages, { role: "assistant", content: "Lines." }];
  const following = await fitMessages(next, { budget, pinned: [6], previous: fitted });
  expect(following.isAppended).toBe(true);
  for (const [pinned, error] of [
    [3, "pinned: expected an array, got number"],
    [[0.5], "pinned[0]: expected an index below 49, got 0.5"],
    [[0, 49], "pinned[1]: expected an index below 49, got 49"],
  ] as const) {
    await expect(fitMessages(messages, { budget, pinned: pinned as never })).rejects.toThrow(error);
  }
});

test("changed messages are fitted again", async () => {
  const messages = turn(0, "What?", "That.", "So.");
  const first = await fitMessages(messages, { budget: 100 });
  const next = [...messages, { role: "user", content: "And now?" }];
  const appended = await fitMessages(next, { budget: 100, previous: first });
  expect(appended.isAppended).toBe(true);
  const model = "gpt-4";
  expect((await fitMessages(next, { budget: 100, previous: first, model })).isAppended).toBe(false);
  first.messages.length = 0;
  expect((await fitMessages(next, { budget: 100, previous: first })).messages).toEqual(next);
  messages[0]!.content = "Why?";
  const changed = await fitMessages(next, { budget: 100, previous: first });
  expect(changed.isAppended).toBe(false);
  expect(changed.messages).toEqual(next);
  await expect(
    // @ts-expect-error: no result
    fitMessages(next, { budget: 100, previous: {} }),
  ).rejects.toThrow("previous: expected a result of fitMessages");
  await expect(fitMessages(next, { budget: 100, headroom: 1 })).rejects.toThrow("headroom");
  const negative = fitMessages(next, { budget: 100, imageTokens: -1 });
  await expect(negative).rejects.toThrow("imageTokens: expected a number of tokens");
});

test("images count", async () => {
  const url = "https://example.org/door.png";
  const content = [
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url } },
  ];
  const turns = Array.from({ length: 5 }, () => [
    { role: "user", content },
    { role: "assistant", content: "A door." },
  ]);
  const messages = [...turns.flat(), { role: "user", content: "Which one sticks?" }];
  const texts = await fitMessages(messages, { budget: 10_000, imageTokens: 0 });
  const all = await fitMessages(messages, { budget: 10_000 });
  expect(all.report.usedTokens).toBe(texts.report.usedTokens + 5 * 1600);
  const fitted = await fitMessages(messages, { budget: 4_000 });
  const images = JSON.stringify(fitted.messages).split(url).length - 1;
  expect(images).toBeGreaterThan(0);
  expect(images).toBeLessThanOrEqual(2);
  expect(fitted.report.usedTokens).toBeLessThanOrEqual(4_000);
});
