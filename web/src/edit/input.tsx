/** Asks for the input of a job that needs one, before it is rehearsed. */

import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog";
import { remember, remembered } from "../storage";
import { visible } from "../words";

type Props = { job: string; onClose: () => void; onGo: (input: string) => void };

export function AskInput({ job, onClose, onGo }: Props) {
  const [text, write] = useState(remembered(`rehearsal.input.${job}`) ?? "");
  const isEmpty = text.trim() === "";
  const go = () => {
    if (isEmpty) return;
    remember(`rehearsal.input.${job}`, text);
    onGo(text);
  };
  return (
    <Dialog title={`Rehearse ${visible(job)}`} onClose={onClose}>
      <div class="field">
        <label for="rehearsal-input">User input</label>
        <textarea
          id="rehearsal-input"
          class="area"
          data-first
          rows={4}
          value={text}
          aria-describedby="rehearsal-input-for"
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) go();
          }}
        />
        <p class="hint" id="rehearsal-input-for">
          Required: the tasks of this job use $user-input. Press Ctrl+Enter to rehearse.
        </p>
      </div>
      <div class="row wrap">
        <button type="button" class="btn primary" disabled={isEmpty} onClick={go}>
          <span>Rehearse</span>
        </button>
        <button type="button" class="btn" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
