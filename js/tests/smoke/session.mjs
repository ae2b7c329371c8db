// Hands off and resumes a session with the command at a path.

import { Session } from "llm-context-pack/node";

const [store, command] = globalThis.process.argv.slice(2);
const session = new Session("smoke", { store, command, window: 4_000 });
await session.record([{ role: "user", content: "Open the door." }]);
const handoff = await session.handoff({ when: "always" });
console.log((await Session.resume(handoff.id, { store, command })).text);
