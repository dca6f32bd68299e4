/** The text field, for as long as the page is there. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Desk } from "./desk";
import type { Editor } from "./editor";

type Props = { desk: Desk; name: string; editor: { current: Editor | null } };

export function Code({ desk, name, editor }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const [isReady, setReady] = useState(false);
  const isLocked = desk.locked.value !== null;
  useEffect(() => {
    let isGone = false;
    let made: Editor | null = null;
    // Loaded beside the page, which can be read before it is there.
    void import("./editor").then(({ Editor }) => {
      if (isGone || host.current === null) return;
      made = new Editor({
        host: host.current,
        text: desk.draft.value?.text ?? "",
        language: desk.file.value?.format ?? "yaml",
        label: name,
        isReadOnly: desk.locked.value !== null,
        known: () => desk.known.value,
        onWrite: (text) => desk.write(text),
      });
      editor.current = made;
      const line = /^#L(\d+)$/.exec(location.hash)?.[1];
      if (line !== undefined) made.goToLine(Number(line));
      setReady(true);
    });
    return () => {
      isGone = true;
      editor.current = null;
      made?.destroy();
    };
  }, [desk]);
  useEffect(() => editor.current?.lock(isLocked), [isLocked, isReady]);
  const problems = desk.problems.value;
  const isCurrent = desk.isCurrent.value;
  useEffect(() => {
    if (isCurrent) editor.current?.show(problems);
  }, [problems, isCurrent, isReady]);
  return <div class="code-host" ref={host} aria-busy={!isReady} />;
}
