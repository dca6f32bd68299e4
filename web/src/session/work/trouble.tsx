/** What went wrong with a call, and what whoever said no said of it. */

import { becameOf } from "../../parts/asking";
import { Fold } from "../../parts/fold";
import type { ToolBlock } from "../../state/types";
import { leftOut, visible } from "../../words";
import { isPlainLook, permittedInFull } from "./permitted";
import type { CallEntry } from "./pieces";

export const isBad = ({ error, vetoed, cut }: ToolBlock): boolean =>
  error !== null || vetoed !== null || cut;

export function Trouble({ entry: { tool, ask } }: { entry: CallEntry }) {
  const answer = ask?.settled?.answer;
  const why = tool.vetoed ?? tool.error;
  const permission = ask === null && !isPlainLook(tool) ? tool.permission : null;
  return (
    <>
      {permission !== null && (
        <p class={permission.rule === null ? "said-by phone-only" : "said-by"}>
          {permittedInFull(permission)}
        </p>
      )}
      {ask !== null && ask.settled !== null && (
        <p class="said-by phone-only">{becameOf(ask.item.asked.kind, ask.settled)}</p>
      )}
      {answer != null && answer !== "" && ask?.item.asked.kind === "approval.asked" && (
        <p class="said-by">“{visible(answer)}”</p>
      )}
      {why !== null && (
        <div class="why">
          <Fold text={why} label="Why it failed" />
        </div>
      )}
      {tool.cut && why === null && <p class="none">It ended before it was complete.</p>}
      {tool.left_out !== null && (
        <p class="none">Too long to store in full: {leftOut(tool.left_out)} in the middle.</p>
      )}
    </>
  );
}
