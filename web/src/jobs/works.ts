/** What a job does, from its tree of works. Pure. */

import type { TaskItem } from "../api/types.gen";

type Tree = Record<string, unknown>;

const branches = (work: Tree): Tree[] => (Array.isArray(work.works) ? work.works : []);
const part = (work: Tree, name: string): Tree | null => (work[name] as Tree | undefined) ?? null;
const condition = (work: Tree, name: string): [boolean, Tree] | null =>
  (work[name] as [boolean, Tree] | undefined) ?? null;

/** The tasks in order, each as often as it stands there; and how many of them a loop repeats. */
export function tasksOf(work: Tree): { names: string[]; looped: number } {
  const names: string[] = [];
  let looped = 0;
  const walk = (at: Tree | null, inLoop: boolean): void => {
    if (at === null) return;
    if (at.kind === "Ref") {
      names.push(String(at.taskId));
      looped += inLoop ? 1 : 0;
      return;
    }
    const within = inLoop || at.kind === "Loop";
    walk(condition(at, "preCondition")?.[1] ?? null, within);
    walk(part(at, "condition"), within);
    for (const branch of branches(at)) walk(branch, within);
    walk(part(at, "trueWork"), within);
    walk(part(at, "falseWork"), within);
    walk(part(at, "body"), within);
    walk(condition(at, "postCondition")?.[1] ?? null, within);
  };
  walk(work, false);
  return { names, looped };
}

/** Longer ones are no sentence any more. */
const LONGEST = 200;

/** The job in a sentence, its parts by their kind where it is large; null where that is too long too. */
export function inOneSentence(work: Tree): string | null {
  const told = [tell(work), tellBriefly(work)].find(({ length }) => length <= LONGEST);
  if (told === undefined) return null;
  return `${told.replace(/^if /, "If ")}.`; // a task's name is written as it is
}

function tell(work: Tree): string {
  switch (work.kind) {
    case "Seq":
      return branches(work).map(tell).join(", then ");
    case "Par":
      return `${branches(work).map(tell).join(" and ")} in parallel`;
    case "Alt":
      return tellChoice(work);
    case "Loop":
      return tellLoop(work);
    default:
      return String(work.taskId);
  }
}

function tellBriefly(work: Tree): string {
  const steps = work.kind === "Seq" ? branches(work) : [work];
  return steps
    .map((step) => {
      if (step.kind === "Ref") return String(step.taskId);
      const count = `${tasksOf(step).names.length} tasks`;
      if (step.kind === "Loop") return `a loop of ${count}`;
      return step.kind === "Alt" ? `a choice of ${count}` : `${count} in parallel`;
    })
    .join(", then ");
}

function tellChoice(work: Tree): string {
  const asked = part(work, "condition");
  const [yes, no] = [part(work, "trueWork"), part(work, "falseWork")];
  const judge = asked === null ? "it" : tell(asked);
  if (yes === null) return no === null ? judge : `if ${judge} says no, ${tell(no)}`;
  return `if ${judge} says yes, ${tell(yes)}${no === null ? "" : `, else ${tell(no)}`}`;
}

function tellLoop(work: Tree): string {
  const body = part(work, "body");
  const [before, after] = [condition(work, "preCondition"), condition(work, "postCondition")];
  const first = before === null ? "" : `if ${tell(before[1])} says ${before[0] ? "yes" : "no"}, `;
  const told = `${first}${body === null ? "" : tell(body)}`;
  if (after === null) return told;
  return `${told}, repeated until ${tell(after[1])} says ${after[0] ? "no" : "yes"}`;
}

/** Those of its tasks that read what the person writes. */
export function readersOf(work: Tree, tasks: readonly TaskItem[]): string[] {
  const reading = new Set(tasks.filter((task) => task.requireUserInput).map(({ name }) => name));
  return [...new Set(tasksOf(work).names)].filter((name) => reading.has(name));
}

/** The policies that its tasks get; mostly it is one. */
export function policiesOf(work: Tree, tasks: readonly TaskItem[]): string[] {
  const known = new Map(tasks.map(({ name, permissions }) => [name, permissions]));
  const found = tasksOf(work).names.map((name) => known.get(name));
  return [...new Set(found.filter((policy) => policy !== undefined))];
}
