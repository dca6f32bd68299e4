/** A call of a tool, as its kind is read best. */

import { useContext } from "preact/hooks";
import { Diff } from "../../parts/diff";
import { Fold } from "../../parts/fold";
import { Icon } from "../../parts/icon";
import { Markdown } from "../../parts/markdown";
import type { SubAgent } from "../../state/types";
import { tokens, visible, visibleWhole } from "../../words";
import { Path } from "../file";
import { firstLine } from "../said";
import { Behind, BehindFact, useBehind } from "./behind";
import { Box } from "./box";
import { AroundCalls, Inner } from "./inner";
import { type Call, callOf } from "./kinds";
import { Read, Search } from "./looks";
import { Output } from "./output";
import { type CallEntry, callsInside, insideOf } from "./pieces";
import { Decision, Fact, Row, Standing, Took } from "./row";
import { isBad, Trouble } from "./trouble";

type Props<Kind extends Call["kind"]> = {
  entry: CallEntry;
  call: Extract<Call, { kind: Kind }>;
  last: boolean;
};

/** `last`: no other command comes behind it in its box. */
export function CallRow({ entry, last }: { entry: CallEntry; last: boolean }) {
  const call = callOf(entry.tool);
  const props = { entry, last };
  switch (call.kind) {
    case "shell":
      return <Shell {...props} call={call} />;
    case "search":
      return <Search {...props} call={call} />;
    case "read":
      return <Read {...props} call={call} />;
    case "edit":
      return <Edit {...props} call={call} />;
    case "agent":
      return <Agent {...props} call={call} />;
    case "question":
      return <Asked {...props} call={call} />;
    case "plan":
      return <Planned {...props} call={call} />;
    default:
      return <Other {...props} call={call} />;
  }
}

function Shell({ entry, call, last }: Props<"shell">) {
  const { tool, ask } = entry;
  const failed = isBad(tool) || (call.exit !== null && call.exit !== 0);
  const waits = ask !== null && ask.settled === null;
  const lines = call.command.split("\n").length;
  return (
    <Row
      id={tool.id}
      icon="terminal"
      title={
        <code class="sh" title={visible(call.command.slice(0, 2_000))}>
          {visible(firstLineOf(call.command))}
        </code>
      }
      facts={
        <>
          {lines > 1 && <Fact words={`${lines} lines`} />}
          <Standing {...entry} />
          <Decision {...entry} />
          {call.exit !== null && (
            <Fact
              look={call.exit === 0 ? "ok" : "bad"}
              icon={call.exit === 0 ? "tick" : "cross"}
              words={`exit ${call.exit}`}
            />
          )}
          {call.exit === null && tool.error !== null && <Fact look="bad" words="failed" />}
        </>
      }
      time={<Took tool={tool} />}
      opens={!waits && (failed || last || tool.receiving)}
    >
      {() => (
        <>
          {lines > 1 && (
            <pre class="out given" role="group" aria-label="Command">
              <Whole text={call.command} />
            </pre>
          )}
          {!waits && <Output id={tool.id} text={call.output} running={tool.receiving} />}
          <Trouble entry={entry} />
        </>
      )}
    </Row>
  );
}

const firstLineOf = (command: string): string =>
  (command.trim().split("\n")[0] ?? "").slice(0, 400);

const Whole = ({ text }: { text: string }) => (
  <>{visibleWhole(text).replaceAll("⟨U+000A⟩", "\n")}</>
);

function Edit({ entry, call }: Props<"edit">) {
  const { tool, ask } = entry;
  const [only, more] = call.files;
  const sum = (what: "added" | "removed") => call.files.reduce((all, file) => all + file[what], 0);
  const waits = ask !== null && ask.settled === null;
  const behind = useBehind(tool.id);
  return (
    <Row
      id={tool.id}
      icon="pencil"
      title={<b>{call.verb}</b>}
      link={
        more === undefined ? (
          <Path path={only?.path ?? ""} />
        ) : (
          <span>{call.files.length} files</span>
        )
      }
      facts={
        <>
          <Standing {...entry} />
          {behind !== null && <BehindFact call={behind} />}
          {!waits && behind === null && !isBad(tool) && (
            <>
              <span class="fact plus">+{sum("added")}</span>
              <span class="fact minus">−{sum("removed")}</span>
            </>
          )}
          <Decision {...entry} />
          {tool.error !== null && ask?.settled?.outcome !== "deny" && (
            <Fact look="bad" words="failed" />
          )}
        </>
      }
      time={<Took tool={tool} />}
      opens={isBad(tool) || behind !== null}
      flat={(waits || tool.receiving) && behind === null}
    >
      {() => (
        <>
          {behind !== null && <Behind call={behind} />}
          {call.diff !== "" && behind === null && !isBad(tool) && (
            <Diff diff={call.diff} path={only?.path ?? ""} bare={more === undefined} />
          )}
          <Trouble entry={entry} />
        </>
      )}
    </Row>
  );
}

/** What it is, and what it has used by now. */
function AgentFacts({ agent, called }: { agent: SubAgent | null; called: string }) {
  if (agent === null) return null;
  const { input_tokens: read, output_tokens: written, model, skills } = agent;
  return (
    <>
      {agent.name !== called && <Fact look="opt" words={visible(agent.name)} title="The agent" />}
      {skills.length > 0 && (
        <Fact
          look="opt"
          words={`skills ${visible(skills.join(", "))}`}
          title="Skills it has read"
        />
      )}
      {model !== null && <Fact look="opt" words={visible(model)} title="Its model" />}
      {read + written > 0 && (
        <Fact
          look="opt"
          words={`${tokens(read + written)} tokens`}
          title={`${read} tokens read, ${written} written, in ${agent.requests} ${agent.requests === 1 ? "request" : "requests"}`}
        />
      )}
    </>
  );
}

/** Another agent: what it was asked, what it called, and what it answered. */
function Agent({ entry, call }: Props<"agent">) {
  const { tool } = entry;
  const { blocks, asks } = useContext(AroundCalls);
  const calls = callsInside(tool, blocks, asks);
  return (
    <Row
      id={tool.id}
      icon="person"
      title={
        <>
          <b>{visible(call.name)}</b> {visible(call.about)}
        </>
      }
      facts={
        <>
          <Standing {...entry} />
          {tool.receiving && (
            <span class="st running">
              <Icon name="play" />
              Working
            </span>
          )}
          <Decision {...entry} />
          {calls.length > 0 && (
            <Fact look="opt" words={calls.length === 1 ? "1 call" : `${calls.length} calls`} />
          )}
          <AgentFacts agent={tool.agent} called={call.name} />
          {(tool.error ?? tool.agent?.error ?? null) !== null && <Fact look="bad" words="failed" />}
        </>
      }
      time={<Took tool={tool} />}
      opens={tool.receiving || isBad(tool)}
    >
      {() => (
        <div class="nest">
          <details class="asked-it">
            <summary>Prompt: {firstLine(call.prompt)}</summary>
            <Fold text={call.prompt} label="Prompt" />
          </details>
          <Inner.Provider value={true}>
            {insideOf(tool, blocks, asks).map((piece) =>
              piece.kind === "said" ? (
                <Markdown key={piece.block.id} text={piece.block.text} top={4} />
              ) : (
                <Box key={piece.calls[0]?.tool.id} calls={piece.calls} />
              ),
            )}
          </Inner.Provider>
          {call.answer !== "" && !isBad(tool) && <Markdown text={call.answer} top={4} />}
          <Trouble entry={entry} />
        </div>
      )}
    </Row>
  );
}

function Asked({ entry, call }: Props<"question">) {
  const { tool, ask } = entry;
  const answer = ask?.settled?.answer ?? null;
  return (
    <Row
      id={tool.id}
      icon="question"
      title={
        <>
          <b>{tool.receiving ? "Asking" : "Asked"}</b> {firstLine(call.question)}
        </>
      }
      facts={
        <>
          <Standing {...entry} />
          <Decision {...entry} />
        </>
      }
      time={<Took tool={tool} />}
      opens={answer !== null}
      flat={ask !== null && ask.settled === null}
    >
      {() => (
        <>
          {call.question.includes("\n") && <Fold text={call.question} label="Question" />}
          {answer !== null && <p class="said-by">“{visible(answer)}”</p>}
          <Trouble entry={entry} />
        </>
      )}
    </Row>
  );
}

/** A plan that was shown to a person, and what they said of it. */
function Planned({ entry, call }: Props<"plan">) {
  const { tool, ask } = entry;
  const answer = ask?.settled?.answer ?? null;
  const asked = ask?.item.asked;
  const whole = asked?.kind === "plan.asked" ? (asked.plan ?? asked.summary) : call.summary;
  return (
    <Row
      id={tool.id}
      icon="plan"
      title={
        <>
          <b>Plan</b> {firstLine(call.summary)}
        </>
      }
      facts={
        <>
          <Standing {...entry} />
          <Decision {...entry} />
        </>
      }
      time={<Took tool={tool} />}
      opens={answer !== null}
      flat={ask !== null && ask.settled === null}
    >
      {() => (
        <>
          <Markdown text={whole} top={4} />
          {answer !== null && <p class="said-by">“{visible(answer)}”</p>}
          <Trouble entry={entry} />
        </>
      )}
    </Row>
  );
}

function Other({ entry, call }: { entry: CallEntry; call: Call }) {
  const { tool } = entry;
  const { blocks, asks } = useContext(AroundCalls);
  const inside = tool.children.length > 0 ? callsInside(tool, blocks, asks) : [];
  const rows = call.kind === "other" ? call.given : [];
  const about = rows.find(([, value]) => value.trim() !== "")?.[1] ?? "";
  return (
    <Row
      id={tool.id}
      icon="plug"
      title={
        <>
          <code>{visible(tool.name.slice(0, 160))}</code>{" "}
          <span class="about">{firstLine(about)}</span>
        </>
      }
      facts={
        <>
          <Standing {...entry} />
          <Decision {...entry} />
          {tool.error !== null && <Fact look="bad" words="failed" />}
        </>
      }
      time={<Took tool={tool} />}
      opens={isBad(tool)}
    >
      {() => (
        <>
          <table class="kvt">
            <tbody>
              {rows.map(([name, value]) => (
                <Value key={name} name={name} value={value} exact />
              ))}
              <Value name="result" value={tool.result ?? tool.output} />
              {tool.detail !== null && tool.detail !== tool.result && (
                <Value name="detail" value={tool.detail} />
              )}
            </tbody>
          </table>
          <Box calls={inside} />
          <Trouble entry={entry} />
        </>
      )}
    </Row>
  );
}

function Value({ name, value, exact = false }: { name: string; value: string; exact?: boolean }) {
  if (value.trim() === "") return null;
  return (
    <tr>
      <th scope="row">{visible(name.slice(0, 80))}</th>
      <td>
        {value.includes("\n") || value.length > 300 ? (
          <Fold text={value} label={visible(name)} exact={exact} />
        ) : (
          <span class="mono">{(exact ? visibleWhole : visible)(value)}</span>
        )}
      </td>
    </tr>
  );
}
