import { Encoding, LcpError, count, fitMessages } from "llm-context-pack";
import { expect, test, vi } from "vitest";
import { NativeEncoding } from "#native";

test("a panic is an error, and the next call has a new instance", async () => {
  const encoding = await Encoding.load();
  const count4 = await Encoding.load("cl100k_base");
  const panic = vi.spyOn(NativeEncoding.prototype, "count").mockImplementationOnce(() => {
    throw new WebAssembly.RuntimeError("unreachable");
  });
  expect(() => encoding.count("text")).toThrow(LcpError);
  expect(panic).toHaveBeenCalledOnce();
  panic.mockRestore();
  // Values of the earlier instance, and its vocabularies, are created again.
  expect(encoding.count("hello world")).toBe(2);
  expect(count4.encode("hello world")).toEqual(new Uint32Array([15339, 1917]));
  expect(await count("hello world")).toBe(2);
  const messages = [{ role: "user", content: "Hello" }];
  expect((await fitMessages(messages, { budget: 100 })).messages).toEqual(messages);
});
