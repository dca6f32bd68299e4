/** What every block has: a header that says what it is and opens it, and a content. */

import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { known } from "../live/feed";
import { Icon } from "../parts/icon";
import { PastAsks } from "../parts/past-ask";
import type { TextBlock } from "../state/types";
import { byTask, clock, fully, leftOut, visible } from "../words";

import { useChoice } from "./remember";
import { heading, opensItself, took } from "./said";

type ShellProps = {
  block: TextBlock;
  /** What a closed block says in its header. */
  summary: string;
  /** More classes: `decision`, `over`. */
  looks?: string;
  /** Beside the header's button. */
  beside?: ComponentChildren;
  children: () => ComponentChildren;
};

/** The header, and below it the content while the block is open. */
export function Shell({ block, summary, looks = "", beside, children }: ShellProps) {
  const choice = useChoice(block.id, "open");
  const isOpen = block.receiving || (choice.value ?? opensItself(block));
  const { type, title } = heading(block);
  // Thoughts are low while they come; what is said takes the room that it needs.
  const isLow = block.receiving && block.kind === "reasoning";
  return (
    <article class={`blk ${block.kind} ${isLow ? "recv" : ""} ${looks}`} data-part>
      <header>
        <button
          type="button"
          class="hd"
          data-step
          aria-expanded={isOpen}
          onClick={() => {
            if (!block.receiving) choice.value = !isOpen;
          }}
        >
          <Icon name={isOpen ? "down" : "right"} size="s" />
          <span class="type cut">
            {type}
            {title !== null && <span class="t"> ({visible(title)})</span>}
            {block.receiving && <span class="rcv"> [receiving...]</span>}
          </span>
          <span class="sum">{isOpen ? "" : summary}</span>
        </button>
        {beside}
        <Meta block={block} />
      </header>
      {isOpen && <div class="body">{children()}</div>}
      {isOpen && block.cut && (
        <p class="cut-off">
          <Icon name="slashed" size="s" />
          Cut off: it ended before it was complete.
        </p>
      )}
      {isOpen && block.left_out !== null && (
        <p class="cut-off">
          <Icon name="slashed" size="s" />
          Too long to store in full: {leftOut(block.left_out)} in the middle.
        </p>
      )}
    </article>
  );
}

/** When it was said; of what takes its time, how long that was. */
function Meta({ block }: { block: TextBlock }) {
  const isSaid = block.kind === "user" || block.kind === "message";
  if (block.receiving) return <Passing since={block.at} />;
  const ended = block.ended_at ?? block.at;
  return (
    <time
      class="meta"
      dateTime={new Date(block.at).toISOString()}
      title={fully(isSaid ? ended : block.at)}
    >
      {block.who !== null && `${visible(byTask(block.who))}, `}
      {isSaid ? clock(ended) : took(ended - block.at)}
      {block.cut && !isSaid && " · cut off"}
      {block.left_out !== null && !isSaid && " · shortened"}
    </time>
  );
}

function Passing({ since }: { since: number }) {
  const past = useContext(PastAsks);
  const passed = Math.max(0, (past?.at ?? known.value) - since);
  return (
    <span class="meta" aria-hidden="true">
      {took(Math.floor(passed / 1000) * 1000).replace(".0", "")}
    </span>
  );
}
