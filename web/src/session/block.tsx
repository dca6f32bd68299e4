/** One block of a conversation, by its kind. */

import { useContext } from "preact/hooks";
import { Ask } from "../parts/ask";
import { Fold } from "../parts/fold";
import { Icon } from "../parts/icon";
import { AskedBy } from "../parts/origin";
import type { AskBlock, Block, NoteBlock } from "../state/types";
import { byTask, clock, fully, visible, visibleLines } from "../words";
import { Home } from "./remember";
import { Text } from "./text";

/** Calls of tools are in boxes of their own. */
export function BlockView({ block }: { block: Exclude<Block, { kind: "tool" }> }) {
  switch (block.kind) {
    case "ask":
      return <Asked block={block} />;
    case "note":
      return <Noted note={block} />;
    default:
      return <Text block={block} />;
  }
}

function Asked({ block: { item, settled } }: { block: AskBlock }) {
  const isHere = useContext(Home) === item.session;
  return (
    <Ask item={item} settled={settled}>
      {settled === null && <AskedBy item={item} isHere={isHere} />}
    </Ask>
  );
}

const TONES = {
  info: { look: "info", icon: "info" },
  warning: { look: "stale", icon: "warning" },
  error: { look: "err", icon: "warning" },
} as const;

const LONG = 2_000;
const LONGEST_TITLE = 300;

const brief = (title: string): string =>
  title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE)} […] (shortened)` : title;

/** Without a role: what is only scrolled into the page is no news. */
function Noted({ note }: { note: NoteBlock }) {
  const { look, icon } = TONES[note.tone];
  return (
    <div class={`note blk-note ${look}`}>
      <Icon name={icon} />
      <div>
        <b>{visible(brief(note.title))}</b>
        {note.text.length > LONG ? (
          <Fold text={note.text} label={visible(note.title)} />
        ) : (
          note.text !== "" && <div class="muted lines">{visibleLines(byTask(note.text))}</div>
        )}
      </div>
      <time class="meta" title={fully(note.at)} dateTime={new Date(note.at).toISOString()}>
        {clock(note.at)}
      </time>
    </div>
  );
}
