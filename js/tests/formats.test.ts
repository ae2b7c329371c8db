import fc from "fast-check";
import { Tiktoken } from "js-tiktoken/lite";
import o200k from "js-tiktoken/ranks/o200k_base";
import { OverBudgetError, fitMessages } from "llm-context-pack";
import type { FitResult } from "llm-context-pack";
import { describe, expect, test } from "vitest";
import { FORMATS, histories, parts, write } from "./histories.js";
import type { Format, Message, Part } from "./histories.js";

const IMAGE_TOKENS = 100;
/** Texts that replace others. */
const PLACEHOLDER = /^\[omitted: .* ~[\d,]+tok\]$/;
/** Texts about the history itself. */
const NOTE = /^(\(The beginning of .*\)|\[omitted: [\d,]+ blocks? ~[\d,]+tok\])$/;

const peer = new Tiktoken(o200k);

/** Returns a fit, or `undefined` if the messages that must stay complete exceed the budget. */
async function fit(
  messages: Message[],
  budget: number,
  format: Format,
  previous?: FitResult<Message>,
): Promise<FitResult<Message> | undefined> {
  // All formats have a public encoding here, so that another library can count each result.
  const options = { encoding: "o200k_base", imageTokens: IMAGE_TOKENS, budget, format, previous };
  try {
    return await fitMessages(messages, options);
  } catch (error) {
    expect(error).toBeInstanceOf(OverBudgetError);
    return undefined;
  }
}

/** Counts texts, calls and images by another library. Thinking may be encrypted. */
function tokens(fitted: readonly Part[], note: string | null): number {
  const images = fitted.filter((it) => it.kind === "image").length;
  const texts = fitted.filter((it) => it.kind !== "image" && it.kind !== "thinking");
  return [...texts.map((it) => it.value), note ?? ""]
    .map((text) => peer.encode(text, [], []).length)
    .reduce((sum, count) => sum + count, images * IMAGE_TOKENS);
}

/** Returns whether a text is a placeholder, or consists of passages of the original. */
function isShortened(text: string, original: string): boolean {
  const passages = text.split(/^….*$/m).map((it) => it.replace(/^\n+|\n+$/g, ""));
  let end = 0;
  const areFound = passages.every((passage) => {
    const start = original.indexOf(passage, end);
    end = start + passage.length;
    return start >= 0;
  });
  return PLACEHOLDER.test(text) || (passages.length > 1 && areFound);
}

/** Returns whether a part is the original, or a shorter form of it. */
function isFrom(part: Part, original: Part): boolean {
  if (part.role !== original.role || part.id !== original.id) {
    return false;
  }
  if (part.kind === original.kind && part.value === original.value) {
    return true;
  }
  switch (`${part.kind} from ${original.kind}`) {
    case "text from image":
      return PLACEHOLDER.test(part.value);
    case "call from call":
      return /^read\{"shortened":"[^]*"\}$/.test(part.value);
    case "text from text":
    case "result from result":
      return isShortened(part.value, original.value);
  }
  return false;
}

/** Checks that parts are from the history, in its order. A note may precede all but instructions. */
function checkOrder(fitted: readonly Part[], originals: readonly Part[]): void {
  const note = fitted.findIndex((it) => NOTE.test(it.value));
  expect(fitted.slice(0, note + 1).every((it, at) => at === note || isSystem(it))).toBe(true);
  let next = 0;
  for (const part of fitted.toSpliced(note, note < 0 ? 0 : 1)) {
    const at = originals.findIndex((original, at) => at >= next && isFrom(part, original));
    expect(at, `${JSON.stringify(part)} is from the history`).toBeGreaterThanOrEqual(next);
    next = at + 1;
  }
}

/** Checks that results follow their calls, with nothing in between. */
function checkPairs(fitted: readonly Part[]): void {
  const open = new Set<string>();
  let isAnswering = false;
  for (const { role, kind, id } of fitted) {
    if (kind === "result") {
      expect(open.delete(id), `${id} follows its call`).toBe(true);
      isAnswering = open.size > 0;
    } else if (role !== "tool") {
      expect(isAnswering || (open.size > 0 && role !== "assistant")).toBe(false);
      if (kind === "call") {
        open.add(id);
      }
    }
  }
  expect([...open]).toEqual([]);
}

const isSystem = ({ role }: Message | Part): boolean => role === "system" || role === "developer";

/** Returns the parts of the user in a message, without results. */
const questionIn = (message: Message): Part[] =>
  parts([message]).filter((it) => it.role === "user");

const newestQuestion = (messages: readonly Message[]): number =>
  messages.findLastIndex((it) => questionIn(it).length > 0);

/** Checks what holds for each fit of the messages. */
function checkLaws(messages: Message[], result: FitResult<Message>, budget: number): void {
  const fitted = parts(result.messages);
  expect(tokens(fitted, result.note)).toBeLessThanOrEqual(result.report.usedTokens);
  expect(result.report.usedTokens).toBeLessThanOrEqual(budget);
  checkOrder(fitted, parts(messages));
  checkPairs(fitted);
  // System messages are the same objects, and the newest question is complete.
  expect(messages.filter((it) => isSystem(it) && !result.messages.includes(it))).toEqual([]);
  const newest = newestQuestion(messages);
  expect(fitted).toEqual(expect.arrayContaining(questionIn(messages[newest]!)));
  // Calls of the newest turn have their thinking.
  let thinking: Part[] = [];
  for (const part of parts(messages.slice(newest + 1))) {
    if (part.kind === "thinking") {
      thinking.push(part);
    } else if (part.role === "tool") {
      thinking = [];
    } else if (
      part.kind === "call" &&
      fitted.some((it) => it.kind === "call" && it.id === part.id)
    ) {
      expect(fitted).toEqual(expect.arrayContaining(thinking));
    }
  }
}

/** Checks what the service of Anthropic requires. */
function checkAnthropic(messages: readonly Message[]): void {
  messages.forEach((message, at) => {
    expect(message.role).toBe(at % 2 === 0 ? "user" : "assistant");
    const list = parts([message]);
    expect(list).not.toEqual([]);
    expect(message.role === "assistant" && list.at(-1)?.kind).not.toBe("thinking");
    // Results come before everything else.
    const results = list.map((it) => it.role === "tool");
    expect(results).toEqual(results.toSorted().toReversed());
  });
}

/** Returns whether a history can end here: with a question, and without an open call. */
function canEnd(messages: readonly Message[]): boolean {
  const start = parts(messages);
  const open = new Set(start.filter((it) => it.kind === "call").map((it) => it.id));
  start.forEach((it) => it.kind === "result" && open.delete(it.id));
  return newestQuestion(messages) >= 0 && open.size === 0;
}

const budgets = fc.integer({ min: 100, max: 2_500 });

describe.each(FORMATS)("%s", (format) => {
  test("fits keep the laws", async () => {
    const law = fc.asyncProperty(histories, budgets, async (history, budget) => {
      const messages = write(history, format);
      const result = await fit(messages, budget, format);
      if (result === undefined) {
        // The messages that must stay complete exceed the budget alone.
        const newest = newestQuestion(messages);
        const required = messages.filter((it, at) => isSystem(it) || at === newest);
        expect(await fit(required, budget, format)).toBeUndefined();
        return;
      }
      checkLaws(messages, result, budget);
      if (format === "anthropic") {
        checkAnthropic(result.messages);
      }
      // A second fit changes nothing.
      expect((await fit(result.messages, budget, format))?.messages).toEqual(result.messages);
    });
    await fc.assert(law, { numRuns: 60, seed: 1 });
  });

  test("messages that fit exactly are the same objects", async () => {
    const law = fc.asyncProperty(histories, async (history) => {
      const messages = write(history, format);
      const budget = (await fit(messages, 1_000_000, format))!.report.usedTokens;
      const result = (await fit(messages, budget, format))!;
      expect(result).toMatchObject({ isUnchanged: true, note: null });
      expect(result.messages.length).toBe(messages.length);
      expect(result.messages.every((it, at) => it === messages[at])).toBe(true);
      checkLaws(messages, result, budget);
    });
    await fc.assert(law, { numRuns: 30, seed: 1 });
  });

  test("next turns keep the laws", async () => {
    const law = fc.asyncProperty(histories, budgets, fc.nat(), async (history, budget, choice) => {
      const messages = write(history, format);
      const end = choice % messages.length;
      const start = messages.slice(0, end);
      fc.pre(canEnd(start));
      const previous = await fit(start, budget, format);
      const result = previous && (await fit(messages, budget, format, previous));
      if (result === undefined) {
        return;
      }
      checkLaws(messages, result, budget);
      const next = [...previous!.messages, ...messages.slice(end)];
      if (result.isAppended) {
        expect(result.messages).toEqual(next);
        return;
      }
      expect(result.messages).toEqual((await fit(messages, budget, format))?.messages);
      // The new messages do not fit, or need the thinking at the end of the turn before.
      if (parts(start).at(-1)?.kind !== "thinking") {
        const again = (await fit(previous!.messages, budget, format))!;
        const note = previous!.report.usedTokens - again.report.usedTokens;
        const appended = (await fit(next, 1_000_000, format))!.report.usedTokens;
        expect(appended + note).toBeGreaterThan(budget);
      }
    });
    await fc.assert(law, { numRuns: 60, seed: 1 });
  });
});
