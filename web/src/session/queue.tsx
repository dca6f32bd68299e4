/** The requests that wait, in order: to change, to move, to take out, or to put into the running turn. */

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { barred, mayNot } from "../api/role";
import type { QueuedPrompt } from "../api/types.gen";
import { Icon, type IconName } from "../parts/icon";
import { visible } from "../words";
import { drop, move, rewrite, steer, type Trouble } from "./calls";

type Props = {
  session: string;
  queue: readonly QueuedPrompt[];
  canSteer: boolean;
  onTrouble: (trouble: Trouble) => void;
};

export function Queue({ session, queue, canSteer, onTrouble }: Props) {
  const editing = useSignal<string | null>(null);
  const dragged = useRef<string | null>(null);
  if (queue.length === 0) return null;
  const many = queue.length === 1 ? "1 message" : `${queue.length} messages`;
  const put = async (doing: Promise<Trouble>) => onTrouble(await doing);
  return (
    <ol class="queue" aria-label={`Queue, ${many}`}>
      {queue.map((queued, at) => (
        <li
          key={queued.prompt}
          draggable={
            queued.task == null && editing.value !== queued.prompt && mayNot("operate") === null
          }
          onDragStart={() => {
            dragged.current = queued.prompt;
          }}
          onDragOver={(event) => dragged.current !== null && event.preventDefault()}
          onDrop={(event) => {
            event.preventDefault();
            if (dragged.current !== null) void put(move(session, dragged.current, at));
            dragged.current = null;
          }}
        >
          <span class="grip">
            <Icon name="grip" size="s" />
          </span>
          <span class="n">{at + 1}</span>
          {editing.value === queued.prompt ? (
            <Edit
              text={queued.text}
              onDone={(text) => {
                editing.value = null;
                if (text !== null && text !== queued.text) {
                  void put(rewrite(session, queued.prompt, text));
                }
              }}
            />
          ) : (
            <>
              <span class="cut grow" title={visible(queued.text)}>
                {visible(queued.text)}
              </span>
              {queue.length > 1 && (
                <span class="phone-only small faint nowrap">
                  {at + 1} of {queue.length}
                </span>
              )}
              {queued.images?.length ? (
                <span class="small faint nowrap">
                  {queued.images.length === 1 ? "1 image" : `${queued.images.length} images`}
                </span>
              ) : null}
              {queued.task != null ? (
                <span class="small faint nowrap">from a task</span>
              ) : (
                <Does
                  session={session}
                  queued={queued}
                  at={at}
                  last={queue.length - 1}
                  canSteer={canSteer}
                  onEdit={() => {
                    editing.value = queued.prompt;
                  }}
                  put={(doing) => void put(doing)}
                />
              )}
            </>
          )}
        </li>
      ))}
    </ol>
  );
}

type DoesProps = {
  session: string;
  queued: QueuedPrompt;
  at: number;
  last: number;
  canSteer: boolean;
  onEdit: () => void;
  put: (doing: Promise<Trouble>) => void;
};

function Does({ session, queued, at, last, canSteer, onEdit, put }: DoesProps) {
  const { prompt, delivery } = queued;
  return (
    <>
      <span class="opt">
        {delivery === "steer" ? (
          <span class="small faint nowrap">added at the next step</span>
        ) : (
          canSteer &&
          !queued.images?.length && (
            <button
              type="button"
              class="btn ghost sm"
              {...barred("operate")}
              onClick={() => put(steer(session, queued))}
            >
              <Icon name="steer" />
              Steer now
            </button>
          )
        )}
      </span>
      <span class="opt">
        <Act
          name="up"
          label="Move up"
          off={at === 0}
          onClick={() => put(move(session, prompt, at - 1))}
        />
        <Act
          name="down"
          label="Move down"
          off={at === last}
          onClick={() => put(move(session, prompt, at + 1))}
        />
      </span>
      <Act name="pencil" label="Edit" onClick={onEdit} />
      <Act name="trash" label="Remove from the queue" onClick={() => put(drop(session, prompt))} />
    </>
  );
}

type ActProps = { name: IconName; label: string; off?: boolean; onClick: () => void };

const Act = ({ name, label, off = false, onClick }: ActProps) => (
  <button
    type="button"
    class="btn ghost sm icon"
    aria-label={label}
    title={label}
    disabled={off}
    {...barred("operate")}
    onClick={onClick}
  >
    <Icon name={name} />
  </button>
);

/** Enter keeps, Esc leaves it as it was. */
function Edit({ text, onDone }: { text: string; onDone: (text: string | null) => void }) {
  const words = useSignal(text);
  const done = () => onDone(words.value.trim() === "" ? null : words.value);
  return (
    <>
      <textarea
        class="area grow"
        rows={Math.min(4, text.split("\n").length)}
        aria-label="Edit the message"
        value={words}
        ref={(element) => {
          if (element && document.activeElement !== element) element.focus();
        }}
        onInput={(event) => {
          words.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") onDone(null);
          else if (event.key === "Enter" && !event.shiftKey) done();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <button type="button" class="btn sm" onClick={done}>
        Save{" "}
      </button>
      <button type="button" class="btn ghost sm" onClick={() => onDone(null)}>
        Cancel
      </button>
    </>
  );
}
