/** The entry editor: code at the left with its problems, the chart and the rehearsal at the right. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { mayNot } from "../api/role";
import { busy } from "../live/build";
import { type Command, useCommands } from "../parts/commands";
import { confirmed } from "../parts/dialog";
import { DragBar } from "../parts/dragbar";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { visible } from "../words";
import { Code } from "./code";
import type { Desk } from "./desk";
import type { Editor } from "./editor";
import { JobChart } from "./flow";
import { Head } from "./head";
import { AskInput } from "./input";
import { LastRehearsal } from "./last";
import { Problems } from "./problem-list";
import { type Change, nextProblem } from "./problems";
import { Rehearsals, whyNotRehearse } from "./rehearsal";
import { Strips } from "./strips";
import type { DraftJob, Example } from "./wire";

export const nameIn = (path: string): string => path.split(/[\\/]/).at(-1) ?? path;

export function EditPage({ desk }: { desk: Desk }) {
  const editor = useRef<Editor | null>(null);
  const rehearsals = useMemo(() => new Rehearsals(), []);
  const [jobName, choose] = useState<string | null>(null);
  const [selected, select] = useState<number | null>(null);
  const [isChart, showChart] = useState(false);
  const [asksFor, ask] = useState<DraftJob | null>(null);
  useEffect(() => desk.open((text) => editor.current?.replace(text)), [desk]);
  useEffect(() => {
    const isDirty = () => desk.isDirty.value;
    busy.add(isDirty);
    return () => busy.delete(isDirty);
  }, [desk]);

  const draft = desk.draft.value;
  const jobs = desk.jobs.value;
  const job = jobs.find(({ name }) => name === jobName) ?? jobs[0] ?? null;
  const problems = desk.problems.value;
  const whyNot = whyNotRehearse({
    barred: mayNot("operate"),
    isAway: desk.away.value,
    errors: desk.errors.value,
    isChecked: desk.checked.value !== null,
    job: job?.name ?? null,
    isRunning: rehearsals.isRunning,
  });

  function begin(wanted: DraftJob, input: string | null): void {
    const format = desk.file.value?.format;
    if (draft === null || format === undefined || format === "python") return;
    const { text, script } = draft;
    showChart(true);
    void rehearsals.start({ text, format, job: wanted.name, input, script });
  }

  function rehearse(): void {
    if (whyNot !== null || job === null) return;
    if (job.requireUserInput) ask(job);
    else begin(job, null);
  }

  function goToNext(): void {
    const next = nextProblem(problems, editor.current?.at ?? 0);
    const problem = next === null ? undefined : problems[next];
    if (problem === undefined) return;
    showChart(false);
    select(next);
    editor.current?.goTo(problem.from);
  }

  function repair(change: Change): void {
    if (desk.isCurrent.value) editor.current?.apply(change);
  }

  async function startFrom(example: Example): Promise<void> {
    if (draft === null || desk.locked.value !== null) return;
    const isFree = draft.text.trim() === "" || (await mayReplace(draft.path, example));
    if (isFree) desk.begin(example);
    editor.current?.focus();
  }

  const acts = { save: () => void desk.save(), rehearse, next: goToNext };
  useEditorKeys(acts);
  useCommands(commandsOf(acts, desk, startFrom));

  if (desk.trouble.value !== null && draft === null) {
    return (
      <div class="gate">
        <Note kind="err" title="Could not open this file.">
          {visible(desk.trouble.value)}
        </Note>
      </div>
    );
  }
  if (draft === null) {
    return (
      <p class="gate load" aria-busy="true">
        <Icon name="clock" />
        {desk.away.value ? "The server is not responding. Trying again…" : "Loading the entry…"}
      </p>
    );
  }
  return (
    <>
      <Head
        desk={desk}
        draft={draft}
        isChart={isChart}
        onChart={() => showChart(!isChart)}
        whyNot={whyNot}
        onRehearse={rehearse}
        onExample={(example) => void startFrom(example)}
      />
      <Strips desk={desk} draft={draft} />
      <div class={isChart ? "ed chart-on" : "ed"}>
        <section class="edl" aria-label="Editor">
          <Code desk={desk} name={nameIn(draft.path)} editor={editor} />
          <Problems
            desk={desk}
            problems={problems}
            selected={selected}
            onSelect={(index) => {
              select(index);
              const problem = problems[index];
              if (problem !== undefined) editor.current?.goTo(problem.from);
            }}
            onNext={goToNext}
            onRepair={repair}
          />
        </section>
        <DragBar
          name="edit.chart"
          label="Width of the chart"
          way="v"
          property="--chart-w"
          usual={520}
          min={360}
        />
        <section class="edr" aria-label="Chart and rehearsal">
          <JobChart desk={desk} jobs={jobs} job={job} onChoose={choose} />
          <LastRehearsal rehearsals={rehearsals} text={draft.text} />
        </section>
      </div>
      {asksFor !== null && (
        <AskInput
          job={asksFor.name}
          onClose={() => ask(null)}
          onGo={(input) => {
            ask(null);
            begin(asksFor, input);
          }}
        />
      )}
    </>
  );
}

const mayReplace = (path: string, { title }: Example): Promise<boolean> =>
  confirmed({
    title: "Replace your text?",
    body: `“${visible(title)}” replaces the text of ${visible(nameIn(path))} in this editor. Ctrl+Z brings the text back, and the file changes only when you save.`,
    action: "Replace",
    keep: "Keep my text",
  });

type Acts = { save: () => void; rehearse: () => void; next: () => void };

/** Before the editor hears them, and wherever the focus is. */
function useEditorKeys(acts: Acts): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (document.querySelector("dialog[open]") !== null || event.altKey) return;
      const isCtrl = event.ctrlKey || event.metaKey;
      if (isCtrl && event.key.toLowerCase() === "s" && !event.shiftKey) acts.save();
      else if (isCtrl && event.key === "Enter") acts.rehearse();
      else if (!isCtrl && event.key === "F8") acts.next();
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    addEventListener("keydown", press, { capture: true });
    return () => removeEventListener("keydown", press, { capture: true });
  });
}

function commandsOf(
  acts: Acts,
  desk: Desk,
  startFrom: (example: Example) => Promise<void>,
): Command[] {
  return [
    { id: "save", label: "Save", icon: "download", key: "Ctrl S", run: acts.save },
    { id: "rehearse", label: "Rehearse", icon: "play", key: "Ctrl Enter", run: acts.rehearse },
    { id: "next-problem", label: "Next problem", icon: "warning", key: "F8", run: acts.next },
    ...(desk.locked.value !== null ? [] : desk.examples.value).map(
      (example): Command => ({
        id: `example-${example.name}`,
        label: `Start from: ${visible(example.title)}`,
        about: "An example",
        icon: "file",
        run: () => void startFrom(example),
      }),
    ),
  ];
}
