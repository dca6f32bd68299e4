/** What a run is known by, changed in place: its title and its tags. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../parts/icon";
import { visible } from "../words";
import { barredHere } from "./run-acts";

type TitleProps = { job: string; title: string; onRename: (title: string) => Promise<boolean> };

export function RunTitle({ job, title, onRename }: TitleProps) {
  const editing = useSignal(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (editing.value) field.current?.select();
  }, [editing.value]);
  const save = async () => {
    // What goes away loses the focus too, and is no second word.
    if (field.current === null) return;
    const said = field.current.value.trim();
    if (said === title || (await onRename(said))) editing.value = false;
  };
  return (
    <div class="name">
      <span class="j">{visible(job)}</span>
      {editing.value ? (
        <input
          ref={field}
          class="input sm grow"
          aria-label="Title of the run"
          maxLength={120}
          defaultValue={title}
          onKeyDown={(event) => {
            if (event.key === "Enter") void save();
            if (event.key === "Escape") editing.value = false;
            event.stopPropagation();
          }}
          onBlur={() => void save()}
        />
      ) : (
        <>
          <span class="t cut" title={visible(title)}>
            {visible(title)}
          </span>
          <button
            type="button"
            class="btn ghost sm icon"
            aria-label="Rename the run"
            title="Rename the run"
            {...barredHere("operate")}
            onClick={() => {
              editing.value = true;
            }}
          >
            <Icon name="pencil" />
          </button>
        </>
      )}
    </div>
  );
}

type TagsProps = {
  tags: readonly string[];
  onChange: (tags: readonly string[]) => Promise<boolean>;
};

export function Tags({ tags, onChange }: TagsProps) {
  const adding = useSignal(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (adding.value) field.current?.focus();
  }, [adding.value]);
  const add = async () => {
    if (field.current === null) return;
    const said = field.current.value
      .split(",")
      .map((tag) => tag.trim())
      .filter((tag) => tag !== "");
    if (said.length === 0 || (await onChange([...new Set([...tags, ...said])]))) {
      adding.value = false;
    }
  };
  return (
    <>
      {tags.map((tag) => (
        <span key={tag} class="tag">
          {visible(tag)}
          <button
            type="button"
            aria-label={`Remove the tag ${visible(tag)}`}
            {...barredHere("operate")}
            onClick={() => void onChange(tags.filter((one) => one !== tag))}
          >
            <Icon name="cross" size="s" />
          </button>
        </span>
      ))}
      {adding.value ? (
        <input
          ref={field}
          class="input sm tag-in"
          aria-label="New tag"
          maxLength={40}
          onKeyDown={(event) => {
            if (event.key === "Enter") void add();
            if (event.key === "Escape") adding.value = false;
            event.stopPropagation();
          }}
          onBlur={() => void add()}
        />
      ) : (
        <button
          type="button"
          class="tag add"
          {...barredHere("operate")}
          onClick={() => {
            adding.value = true;
          }}
        >
          Add
        </button>
      )}
    </>
  );
}
