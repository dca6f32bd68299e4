/** What the session was given beside its model and folder, and the tools that its agents have. */

import { Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client";
import type { SessionSetup, SystemMessageSetup } from "../api/types.gen";
import { visible } from "../words";

type Props = {
  session: string;
  /** Servers bring their tools with the first turn. */
  turns: number;
};

export function SetupFacts({ session, turns }: Props) {
  const [found, setFound] = useState<SessionSetup | null>(null);
  useEffect(() => {
    let isWanted = true;
    void get<SessionSetup>(`/api/v1/sessions/${session}/setup`).then((answer) => {
      if (isWanted && answer.kind === "ok") setFound(answer.body);
    });
    return () => {
      isWanted = false;
    };
  }, [session, turns]);
  if (found === null) return null;
  const { setup, tools } = found;
  const { compact_at: compactAt, block_at: blockAt, infinite } = setup.context ?? {};
  const facts: [string, string][] = [
    ["Reasoning effort", setup.reasoning_effort ?? ""],
    ["System message", setup.system_message ? messageWords(setup.system_message) : ""],
    ["AGENTS.md", setup.instructions === "off" ? "not read" : ""],
    ["Also reads", (setup.directories ?? []).join(", ")],
    ["Summarized", infinite === false ? "not ahead of time" : percent(compactAt)],
    ["Waits for it", infinite === false ? "" : percent(blockAt)],
    ["Tools", tools.built_in.join(", ") || "none of the runtime’s own"],
    ["Airboss’s tools", tools.ours.join(", ")],
    ...Object.entries(tools.servers).map(([name, its]): [string, string] => [
      `From ${name}`,
      its.join(", "),
    ]),
  ];
  return (
    <section>
      <h2>Setup</h2>
      <dl class="facts">
        {facts
          .filter(([, words]) => words !== "")
          .map(([name, words]) => (
            <Fragment key={name}>
              <dt>{visible(name)}</dt>
              <dd>{visible(words)}</dd>
            </Fragment>
          ))}
      </dl>
    </section>
  );
}

const percent = (share: number | null | undefined): string =>
  share == null ? "" : `at ${Math.round(share * 100)} % of the context`;

function messageWords({ replace, sections, append }: SystemMessageSetup): string {
  const changed = Object.entries(sections ?? {}).map(([name, { action }]) => `${name}: ${action}`);
  const parts = [
    replace ? `Replaced by: ${replace}` : "",
    ...changed,
    append ? `Appended: ${append}` : "",
  ];
  return parts.filter((part) => part !== "").join(" · ");
}
