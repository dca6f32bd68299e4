/** What the session was given beside its model and folder, and the tools that its agents have. */

import { Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client";
import type {
  AgentSetup,
  HookSetup,
  McpServer,
  SessionServer,
  SessionSetup,
  SessionView,
  SystemMessageSetup,
} from "../api/types.gen";
import { ServerSignIn } from "../parts/sign-in";
import { visible } from "../words";

type Props = { view: SessionView };

const AGAIN_MS = 3_000;

/** Its parts change what it goes on with: servers bring their tools with the first turn, and a person
 *  chooses another effort or agent. */
const changesOf = ({ turns, mcp_servers, reasoning_effort, agent }: SessionView): string =>
  [turns, reasoning_effort, agent, ...mcp_servers.map((one) => `${one.name} ${one.state}`)].join();

const NAMES: Record<McpServer["state"], string> = {
  starting: "starting",
  connected: "connected",
  failed: "failed",
  "needs-sign-in": "needs a sign-in",
  stopped: "stopped",
};

export function SetupFacts({ view }: Props) {
  const { id: session, mcp_servers: servers } = view;
  const [found, setFound] = useState<SessionSetup | null>(null);
  useEffect(() => {
    let isWanted = true;
    let planned: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      const answer = await get<SessionSetup>(`/api/v1/sessions/${session}/setup`);
      if (!isWanted) return;
      if (answer.kind === "ok") setFound(answer.body);
      else if (answer.kind === "lost") planned = setTimeout(() => void ask(), AGAIN_MS);
    };
    void ask();
    return () => {
      isWanted = false;
      clearTimeout(planned);
    };
  }, [session, changesOf(view)]);
  if (found === null) return null;
  const { setup, tools } = found;
  const { compact_at: compactAt, block_at: blockAt, infinite } = setup.context ?? {};
  const facts: [string, string][] = [
    ["Account", view.account || (setup.account ?? "")],
    ["Identity", setup.identity === "default" ? "" : (setup.identity ?? "")],
    ["Reasoning effort", setup.reasoning_effort ?? ""],
    ["System message", setup.system_message ? messageWords(setup.system_message) : ""],
    ["AGENTS.md", setup.instructions === "off" ? "not read" : ""],
    ["Also reads", (setup.directories ?? []).join(", ")],
    ["Starts compacting", infinite === false ? "when the context is full" : percent(compactAt)],
    ["Waits until compacted", infinite === false ? "" : percent(blockAt)],
    ["Agent", setup.agent ?? ""],
    ["Agents", agentWords(setup.agents ?? {})],
    ["Skills", (setup.skills ?? []).join(", ")],
    ["Hooks", hookWords(setup.hooks ?? [])],
    ["Tools", tools.built_in.join(", ") || "none built in"],
    ["Airboss’s tools", tools.ours.join(", ")],
    ...Object.entries(tools.servers)
      .filter(([name]) => servers.every((server) => server.name !== name))
      .map(([name, its]): [string, string] => [`From ${name}`, its.join(", ")]),
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
      {servers.length > 0 && (
        <>
          <h2>MCP servers</h2>
          <ul class="servers">
            {servers.map((server) => (
              <li key={server.name}>
                <ServerFacts
                  session={session}
                  server={server}
                  now={found.mcp_servers?.find(({ name }) => name === server.name)}
                  tools={tools.servers[server.name] ?? []}
                />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

type ServerProps = {
  session: string;
  server: McpServer;
  now: SessionServer | undefined;
  tools: readonly string[];
};

function ServerFacts({ session, server, now, tools }: ServerProps) {
  const what = now?.what ?? "";
  return (
    <>
      <strong>{visible(server.name)}</strong>{" "}
      <span class={`server-state ${server.state}`}>{NAMES[server.state]}</span>
      {what !== "" && <div class="muted">{visible(what)}</div>}
      {server.error != null && <div class="server-error">{visible(server.error)}</div>}
      {tools.length > 0 && <div>{visible(tools.join(", "))}</div>}
      {now?.can_sign_in && (
        <ServerSignIn
          session={session}
          server={server.name}
          wanted={server.state === "needs-sign-in"}
          who={now.signed_in ?? null}
        />
      )}
    </>
  );
}

const percent = (share: number | null | undefined): string =>
  share == null ? "" : `at ${Math.round(share * 100)} % of the context`;

const agentWords = (agents: Record<string, AgentSetup>): string =>
  Object.entries(agents)
    .map(([name, { description, model }]) => `${name}${model ? ` (${model})` : ""}: ${description}`)
    .join(" · ");

const hookWords = (hooks: readonly HookSetup[]): string =>
  hooks
    .map(({ hook, tool, command, python }) => {
      const program = python ?? (command ?? []).join(" ");
      return `${hook}${tool ? ` for ${tool}` : ""}: ${program}`;
    })
    .join(" · ");

function messageWords({ replace, sections, append }: SystemMessageSetup): string {
  const changed = Object.entries(sections ?? {}).map(([name, { action }]) => `${name}: ${action}`);
  const parts = [
    replace ? `Replaced by: ${replace}` : "",
    ...changed,
    append ? `Appended: ${append}` : "",
  ];
  return parts.filter((part) => part !== "").join(" · ");
}
