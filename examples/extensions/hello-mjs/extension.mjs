// Says hello: a tool, a hook and an event handler in JavaScript.
import { joinSession } from "@github/copilot-sdk/extension";

const session = await joinSession({
    tools: [
        {
            name: "hello",
            description: "Greets somebody by name.",
            parameters: {
                type: "object",
                properties: { name: { type: "string", description: "who is greeted" } },
                required: ["name"],
            },
            handler: async ({ name }) => `Hello, ${name}!`,
        },
    ],
    hooks: {
        onUserPromptSubmitted: async ({ prompt }) =>
            /\bhello\b/i.test(prompt)
                ? { additionalContext: "The user says hello: greet them by the tool `hello`." }
                : undefined,
    },
});

session.on("session.error", (event) => session.log(`It failed: ${event.data.message}`, { level: "warning" }));
