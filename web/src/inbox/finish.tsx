/** Finishes a sign-in at an MCP server that the browser came back from, and says what came of it. */

import { useEffect, useState } from "preact/hooks";
import { post, whyNot } from "../api/client";
import type { FinishedSignIn } from "../api/types.gen";
import { Icon } from "../parts/icon";
import { visible } from "../words";
import { returnedOf } from "./returned";

const PATIENCE_MS = 40_000;

type Stand =
  | { kind: "going" }
  | { kind: "done"; session: string; server: string }
  | { kind: "failed"; why: string };

export function FinishSignIn() {
  const [returned] = useState(() => returnedOf(window.location.search));
  const [stand, take] = useState<Stand>({ kind: "going" });
  useEffect(() => {
    if (returned === null) return;
    // It counts once: a reload, or a look into the history, is not to bring it again.
    window.history.replaceState(null, "", window.location.pathname);
    void post<FinishedSignIn>("/api/v1/mcp-sign-ins", returned, {}, PATIENCE_MS).then((answer) =>
      take(
        answer.kind === "ok"
          ? { kind: "done", ...answer.body }
          : { kind: "failed", why: whyNot(answer) },
      ),
    );
  }, [returned]);
  if (returned === null) return null;
  switch (stand.kind) {
    case "going":
      return (
        <p class="panel gap" role="status">
          <Icon name="clock" /> Finishing the sign-in…
        </p>
      );
    case "done":
      return (
        <p class="panel gap" role="status">
          <Icon name="tick" /> Signed in at {visible(stand.server)}. What was waiting for it
          continues.{" "}
          <a href={`/index.html?${new URLSearchParams({ session: stand.session })}`}>
            Open the session
          </a>
        </p>
      );
    case "failed":
      return (
        <p class="trouble gap" role="alert">
          <Icon name="warning" size="s" /> {visible(stand.why)}
        </p>
      );
  }
}
