/** One block of a conversation, by its kind. */

import { Ask } from "../parts/ask";
import { Note } from "../parts/note";
import type { Block, NoteBlock } from "../state/types";
import { visible } from "../words";
import { Text } from "./text";
import { type Blocks, Tool } from "./tool";

export function BlockView({ block, blocks }: { block: Block; blocks: Blocks }) {
  switch (block.kind) {
    case "ask":
      return <Ask item={block.item} settled={block.settled} />;
    case "note":
      return <Noted note={block} />;
    case "tool":
      return <Tool tool={block} blocks={blocks} />;
    default:
      return <Text block={block} />;
  }
}

const TONES = { info: "info", warning: "stale", error: "err" } as const;

function Noted({ note }: { note: NoteBlock }) {
  return (
    <div class="blk-note">
      <Note kind={TONES[note.tone]} title={visible(note.title)}>
        {visible(note.text)}
      </Note>
    </div>
  );
}
