/** Calls that only look at something: a search with its hits, a file that was read. */

import { useContext } from "preact/hooks";
import { Code } from "../../parts/code";
import { visible, visibleWhole } from "../../words";
import { within } from "../changes";
import { FilesOf, Path } from "../file";
import type { Call, Hit } from "./kinds";
import type { CallEntry } from "./pieces";
import { Decision, Fact, Row, Standing, Took } from "./row";
import { isBad, Trouble } from "./trouble";

type Of<Kind extends Call["kind"]> = Extract<Call, { kind: Kind }>;
type Props<Kind extends Call["kind"]> = { entry: CallEntry; call: Of<Kind> };

export function Search({ entry, call }: Props<"search">) {
  const { tool } = entry;
  const files = new Set(call.hits.map(({ path }) => path)).size;
  return (
    <Row
      id={tool.id}
      icon="search"
      title={
        <>
          <b>{tool.receiving ? "Searching" : "Searched"}</b>{" "}
          <code>{visible(call.pattern.slice(0, 300))}</code>
          <Where path={call.where} />
        </>
      }
      facts={
        <>
          <Standing {...entry} />
          <Decision {...entry} />
          {!tool.receiving && !isBad(tool) && <Fact words={hitsInWords(call, files)} />}
          {tool.error !== null && <Fact look="bad" words="failed" />}
        </>
      }
      time={<Took tool={tool} />}
      opens={isBad(tool)}
      flat={!isBad(tool) && call.hits.length === 0}
    >
      {() => (
        <>
          <Hits hits={call.hits} pattern={call.pattern} />
          <Trouble entry={entry} />
        </>
      )}
    </Row>
  );
}

function Where({ path }: { path: string | null }) {
  const folder = useContext(FilesOf)?.folder ?? "";
  if (path === null || path === folder || path === ".") return null;
  return (
    <>
      {" "}
      in <code>{visible(within(path, folder))}</code>
    </>
  );
}

function hitsInWords({ hits, isNames }: Of<"search">, files: number): string {
  const many = files === 1 ? "1 file" : `${files.toLocaleString("en")} files`;
  if (hits.length === 0) return "no matches";
  if (isNames) return many;
  return `${hits.length === 1 ? "1 match" : `${hits.length.toLocaleString("en")} matches`} in ${many}`;
}

const MOST_HITS = 200;

function Hits({ hits, pattern }: { hits: readonly Hit[]; pattern: string }) {
  if (hits.length === 0) return null;
  return (
    <ul class="hits">
      {hits.slice(0, MOST_HITS).map(({ path, line, text }, place) => (
        // the hits of a search never change
        <li key={place}>
          <Path path={path} line={line} />
          <i>{line}</i>
          <code>
            <Found text={text.slice(0, 500)} pattern={pattern} />
          </code>
        </li>
      ))}
      {hits.length > MOST_HITS && (
        <li class="none">and {(hits.length - MOST_HITS).toLocaleString("en")} more</li>
      )}
    </ul>
  );
}

/** Only words are looked for: a pattern of somebody else's might take for ever. */
function Found({ text, pattern }: { text: string; pattern: string }) {
  const words = pattern.replace(/\\([^\w])/g, "$1");
  const place = /[[\]{}*+?|^$]/.test(words) ? -1 : text.indexOf(words);
  if (place < 0 || words === "") return <>{visible(text)}</>;
  return (
    <>
      {visibleWhole(text.slice(0, place).trimStart())}
      <mark>{visibleWhole(words)}</mark>
      {visibleWhole(text.slice(place + words.length))}
    </>
  );
}

export function Read({ entry, call }: Props<"read">) {
  const { tool } = entry;
  const verb = call.isFolder ? ["Listing", "Listed"] : ["Reading", "Read"];
  const lines =
    call.to === null
      ? null
      : call.to === call.from
        ? `line ${call.from}`
        : `lines ${call.from}–${call.to}`;
  return (
    <Row
      id={tool.id}
      icon="file"
      title={<b>{verb[tool.receiving ? 0 : 1]}</b>}
      link={<Path path={call.path} line={call.from > 1 ? call.from : null} />}
      facts={
        <>
          <Standing {...entry} />
          <Decision {...entry} />
          {lines !== null && !call.isFolder && <Fact words={lines} />}
          {tool.error !== null && <Fact look="bad" words="failed" />}
        </>
      }
      time={<Took tool={tool} />}
      opens={isBad(tool)}
      flat={tool.receiving}
    >
      {() => (
        <>
          {call.text !== "" && (
            <div class="read-in">
              <Code text={call.text} path={call.path} label="File content" first={call.from} />
            </div>
          )}
          <Trouble entry={entry} />
        </>
      )}
    </Row>
  );
}
