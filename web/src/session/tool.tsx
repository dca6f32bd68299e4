/** `Tool`: what was called, with what, and what it brought; tools that it called are inside it. */

import { Diff } from "../parts/diff";
import { Fold } from "../parts/fold";
import type { Block, ToolBlock } from "../state/types";
import { useChoice } from "./remember";
import { argumentsToRead, looksLikeDiff, toolSummary } from "./said";
import { Shell } from "./shell";
import { Receiving } from "./text";

export type Blocks = ReadonlyMap<string, Block>;

type Props = { tool: ToolBlock; blocks: Blocks };

export function Tool({ tool, blocks }: Props) {
  return (
    <Shell block={tool} summary={toolSummary(tool)}>
      {() =>
        tool.receiving ? (
          <Running tool={tool} blocks={blocks} />
        ) : (
          <Brought tool={tool} blocks={blocks} />
        )
      }
    </Shell>
  );
}

/** Raw, its end in view: what it was called with, what it says, and what it calls. */
function Running({ tool, blocks }: Props) {
  const called = tool.children.slice(-2);
  const said = [tool.arguments, tool.output].filter((text) => text !== "").join("\n");
  return (
    <>
      <Receiving text={said} />
      {called.map((id) => (
        <Called key={id} id={id} blocks={blocks} />
      ))}
    </>
  );
}

function Brought({ tool, blocks }: Props) {
  const { detail } = tool;
  const isDiff = detail !== null && looksLikeDiff(detail);
  return (
    <>
      <dl class="kv">
        <Row name="arguments" text={argumentsToRead(tool.arguments)} exact />
        <Row name="output" text={tool.output} />
        <Row name="result" text={tool.result ?? ""} />
        <Row name="error" text={tool.error ?? ""} />
        <Row name="not let through" text={tool.vetoed ?? ""} />
        {!isDiff && <Row name="detail" text={detail ?? ""} />}
      </dl>
      {isDiff && <Diff diff={detail} />}
      <Inside tool={tool} blocks={blocks} />
    </>
  );
}

type RowProps = { name: string; text: string; exact?: boolean };

function Row({ name, text, exact = false }: RowProps) {
  if (text.trim() === "") return null;
  return (
    <>
      <dt>{name}</dt>
      <dd class="mono">
        <Fold text={text} label={name} exact={exact} />
      </dd>
    </>
  );
}

/** An agent inside may call hundreds. */
const MANY = 60;

function Inside({ tool, blocks }: Props) {
  const all = useChoice(tool.id, "all");
  const hidden = all.value ? 0 : Math.max(0, tool.children.length - MANY);
  return (
    <>
      {hidden > 0 && (
        <button
          type="button"
          class="btn ghost sm"
          data-still
          onClick={() => {
            all.value = true;
          }}
        >
          Show {hidden} earlier
        </button>
      )}
      {tool.children.slice(hidden).map((id) => (
        <Called key={id} id={id} blocks={blocks} />
      ))}
    </>
  );
}

function Called({ id, blocks }: { id: string; blocks: Blocks }) {
  const child = blocks.get(id);
  return child?.kind === "tool" ? <Tool tool={child} blocks={blocks} /> : null;
}
