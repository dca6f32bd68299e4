/** What the test page says to an answer of `api/test`. */

import type { Answer } from "../api/client";
import { visible } from "../words";

export type Said = { kind: "asking" | "message" | "signed-out" | "trouble"; text: string };

export function inWords(answer: Answer): Said {
  switch (answer.kind) {
    case "ok": {
      const { message } = (answer.body ?? {}) as { message?: unknown };
      if (typeof message === "string" && message !== "")
        return { kind: "message", text: visible(message) };
      return { kind: "trouble", text: "The server answered without a message." };
    }
    case "refused":
      return { kind: "signed-out", text: "This browser is not signed in. Sign in first." };
    case "failed":
      return {
        kind: "trouble",
        text: `The server returned an error. ${visible(answer.detail)}`,
      };
    case "lost":
      return { kind: "trouble", text: "The server is not responding. Check that it is running." };
  }
}
