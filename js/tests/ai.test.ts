import { generateText, stepCountIs, tool } from "ai";
import type { ModelMessage } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { UsageError, count } from "llm-context-pack";
import { fitModelMessages, fitStep } from "llm-context-pack/ai";
import { expect, test } from "vitest";
import { z } from "zod";

const image = new Uint8Array([137, 80, 78, 71]);

function turn(at: number): ModelMessage[] {
  const [toolCallId, toolName] = [`call_${at}`, "read"];
  const value = `line ${at} of a file that the model reads\n`.repeat(40);
  return [
    {
      role: "user",
      content: [
        { type: "text", text: `What does file ${at} say?` },
        { type: "image", image },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: `I must read file ${at}.` },
        { type: "text", text: "I read it." },
        { type: "tool-call", toolCallId, toolName, input: { path: `${at}.txt` } },
      ],
    },
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId, toolName, output: { type: "text", value } }],
    },
    { role: "assistant", content: `It repeats line ${at}.` },
  ];
}

const history: ModelMessage[] = [
  { role: "system", content: "Answer briefly." },
  ...Array.from({ length: 12 }, (_, at) => turn(at)).flat(),
  { role: "user", content: "And what do all of them say?" },
];

/** Returns the calls, or the results, of messages. */
function ids(messages: readonly ModelMessage[], type: "tool-call" | "tool-result"): string[] {
  return messages.flatMap(({ content }) =>
    typeof content === "string"
      ? []
      : content.flatMap((part) => (part.type === type ? [part.toolCallId] : [])),
  );
}

test("messages that fit are the same objects", async () => {
  const fitted = await fitModelMessages(history, { budget: 100_000, model: "gpt-5" });
  expect(fitted.isUnchanged).toBe(true);
  fitted.messages.forEach((message, at) => expect(message).toBe(history[at]));
});

test("a long history fits with its calls and newest turn", async () => {
  const { messages, report } = await fitModelMessages(history, { budget: 1_500 });
  expect(report.usedTokens).toBeLessThanOrEqual(1_500);
  expect(messages[0]).toBe(history[0]);
  expect(messages.at(-1)).toBe(history.at(-1));
  expect(ids(messages, "tool-call").length).toBeGreaterThan(0);
  expect(ids(messages, "tool-result")).toEqual(ids(messages, "tool-call"));
  const texts = JSON.stringify(messages, (key, value: unknown) => (key === "image" ? "" : value));
  expect(await count(texts)).toBeLessThan(6_000);
  // The messages are those of the AI SDK, so it sends them.
  const model = new MockLanguageModelV3({ doGenerate: answer("So.") });
  const { text } = await generateText({ model, messages, allowSystemInMessages: true });
  expect(text).toBe("So.");
  const again = await fitModelMessages(messages, { budget: 1_500 });
  expect(again.messages).toEqual(messages);
});

function answer(text: string) {
  return {
    content: [{ type: "text" as const, text }],
    finishReason: { unified: "stop" as const, raw: "stop" },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
    warnings: [],
  };
}

test("each step of an agent stays within the budget", async () => {
  const sizes: number[] = [];
  let step = 0;
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      sizes.push(await count(JSON.stringify(prompt)));
      step += 1;
      const call = { toolCallId: `c${step}`, toolName: "read", input: `{"path":"${step}.txt"}` };
      return step > 8
        ? answer("Done.")
        : {
            ...answer(""),
            content: [{ type: "tool-call" as const, ...call }],
            finishReason: { unified: "tool-calls" as const, raw: "tool_calls" },
          };
    },
  });
  const read = tool({
    inputSchema: z.object({ path: z.string() }),
    execute: ({ path }) => `line of ${path}\n`.repeat(100),
  });
  const result = await generateText({
    model,
    tools: { read },
    prompt: "Read all files.",
    stopWhen: stepCountIs(10),
    prepareStep: fitStep({ budget: 1_200 }),
  });
  expect(result.text).toBe("Done.");
  expect(sizes).toHaveLength(9);
  // The JSON of a prompt has more tokens than its texts.
  expect(Math.max(...sizes)).toBeLessThan(2_400);
});

test("bad input is an error", async () => {
  await expect(fitModelMessages("text" as never, { budget: 100 })).rejects.toThrow(UsageError);
  await expect(fitModelMessages(history, { budget: 0 })).rejects.toThrow("budget: expected");
});
