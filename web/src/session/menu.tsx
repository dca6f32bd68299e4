/** What can be put into a request: commands behind `/`, files behind `@`. The box keeps the focus. */

import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "../api/client";
import type { FileNames } from "../api/types.gen";
import { found } from "../parts/commands";
import { Icon, type IconName } from "../parts/icon";
import { visible, visibleWhole } from "../words";
import type { Wanted } from "./mentions";

export type SlashCommand = {
  name: string;
  about: string;
  /** With what stands behind it. */
  run: (rest: string) => void;
  /** It needs words behind it: chosen from the list, it waits for them. */
  takes?: string;
};

export type MenuItem = {
  id: string;
  label: string;
  about: string;
  icon?: IconName;
  choose: () => void;
};

const MOST = 8;

/** The items for what is being written; null where nothing is. */
export function useMenu(
  session: string,
  wanted: Wanted | null,
  commands: readonly SlashCommand[],
  changed: readonly string[],
  choose: { command: (command: SlashCommand) => void; file: (path: string) => void },
): readonly MenuItem[] {
  const [files, know] = useState<readonly string[]>([]);
  const letters = wanted?.kind === "file" ? wanted.letters : null;
  useEffect(() => {
    if (letters === null) return know([]);
    let gone = false;
    const path = `/api/v1/sessions/${session}/files?limit=${MOST}&text=${encodeURIComponent(letters)}`;
    const soon = setTimeout(async () => {
      const answer = await get<FileNames>(path);
      if (!gone && answer.kind === "ok") know(answer.body.items);
    }, 120);
    return () => {
      gone = true;
      clearTimeout(soon);
    };
  }, [session, letters]);
  if (wanted?.kind === "file") {
    return files.map((path) => ({
      id: path,
      label: path,
      about: changed.includes(path) ? "changed" : "",
      icon: "file",
      choose: () => choose.file(path),
    }));
  }
  if (wanted === null) return [];
  const named = commands.map((command) => ({ ...command, label: `/${command.name}` }));
  return found(wanted.letters, named).map((command) => ({
    id: command.label,
    label: command.label,
    about: command.about,
    choose: () => choose.command(command),
  }));
}

type Props = {
  items: readonly MenuItem[];
  wanted: Wanted;
  place: number;
  id: string;
};

export function Menu({ items, wanted, place, id }: Props) {
  const isFile = wanted.kind === "file";
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[place]?.scrollIntoView({ block: "nearest" });
  }, [place]);
  return (
    <div class="pop">
      <div class="grp">
        {isFile
          ? wanted.letters === ""
            ? "Files"
            : `Files matching “${visible(wanted.letters)}”`
          : "Commands"}
      </div>
      <div
        ref={list}
        id={id}
        role="listbox"
        aria-label={isFile ? "Files" : "Commands"}
        // what scrolls is scrolled by keys too
        tabIndex={0}
      >
        {items.map((item, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the box hears the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the box keeps the focus
          <div
            key={item.id}
            id={`${id}-${at}`}
            role="option"
            aria-selected={at === place}
            onPointerDown={(event) => event.preventDefault()}
            onClick={item.choose}
          >
            {item.icon !== undefined && <Icon name={item.icon} size="s" />}
            <code class="cut">{visibleWhole(item.label)}</code>
            <span class="d cut">{visible(item.about)}</span>
          </div>
        ))}
      </div>
      {items.length === 0 && (
        <p class="none">{isFile ? "No matching files." : "No matching commands."}</p>
      )}
      <p class="vh" role="status">
        {items.length} found
      </p>
      <div class="keys" aria-hidden="true">
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> move
        </span>
        <span>
          <kbd>Enter</kbd> select
        </span>
        <span>
          <kbd>Esc</kbd> close
        </span>
      </div>
    </div>
  );
}
