/** What can be written where the cursor stands: keys and values of the schema, and the draft's own
    names where an entry names them. The editor is not known here. Pure. */

import { type Field, keysIn, namesBelow, type Path, type Place, valueAt } from "./fields";
import { keysAt, type Schema, valuesAt } from "./schema";

export type Suggestion = {
  label: string;
  kind: "key" | "value" | "name" | "variable";
  detail: string;
  about: string;
  /** The larger, the further up. */
  boost: number;
};

export type Offered = { from: number; suggestions: readonly Suggestion[] };

const FILLED_IN: readonly (readonly [string, string])[] = [
  ["user-input", "The input that the person gave."],
  ["task-model", "The id of the model that runs the task."],
  ["reported-document", "What the last call of job_prepare_document named."],
  ["reported-true-reason", "The reason of the last call of job_boolean_true."],
  ["reported-false-reason", "The reason of the last call of job_boolean_false."],
];

const POLICIES: Readonly<Record<string, string>> = {
  ask: "A person is asked before the agent does anything that needs permission.",
  caged: "Everything is allowed inside a cage, and nothing outside it.",
  "read-only": "The agent reads, and changes nothing.",
  "deny-all": "Everything that needs permission is denied.",
  "approve-all": "Everything is allowed without asking. The folder has to be trusted for it.",
};

export function offersAt(
  schema: Schema,
  fields: readonly Field[],
  place: Place,
  models: readonly string[],
): Offered | null {
  const written = (path: Path) => valueAt(fields, path);
  const variable = variablesAt(fields, place);
  if (variable !== null) return variable;
  const suggestions: Suggestion[] = [];
  if (place.kind === "key" || place.kind === "open") {
    const has = new Set(keysIn(fields, place.path));
    const keys = keysAt(schema, place.path, written);
    for (const [at, { name, about, detail, isRequired }] of keys.entries()) {
      if (has.has(name) && name !== place.word) continue;
      const needed = isRequired ? "required" : "";
      suggestions.push({
        label: name,
        kind: "key",
        detail: [detail, needed].filter(Boolean).join(", "),
        about,
        boost: keys.length - at,
      });
    }
  }
  if (place.kind === "value" || place.kind === "open") {
    const isPolicy = place.path.at(-1) === "permissions";
    const values = valuesAt(schema, place.path, written);
    for (const [at, value] of values.entries()) {
      const about = isPolicy ? (POLICIES[value] ?? "") : "";
      // What asks nobody is never what Enter takes first.
      const boost = value === "approve-all" ? -1 : values.length - at;
      suggestions.push({ label: value, kind: "value", detail: "", about, boost });
    }
    suggestions.push(...namesFor(fields, place.path, models));
  }
  return suggestions.length === 0 ? null : { from: place.from, suggestions };
}

/** The names that the entry has for what is named here. */
function namesFor(fields: readonly Field[], path: Path, models: readonly string[]): Suggestion[] {
  const key = path.at(-1);
  const listed = typeof key === "number" ? path.at(-2) : key;
  switch (listed) {
    case "taskId":
    case "previousTasks":
      return named(fields, "tasks", "a task of this entry");
    case "category":
      return named(fields, "models", "a model of this entry");
    case "jobName":
      return named(fields, "jobs", "a job of this entry");
    case "id":
    case "modelId":
      return models.map((label) => ({
        label,
        kind: "name",
        detail: "a model of this server",
        about: "",
        boost: 0,
      }));
    default:
      return path[0] === "models" && path.length === 2
        ? models.map((label) => ({ label, kind: "name", detail: "", about: "", boost: 0 }))
        : [];
  }
}

function named(fields: readonly Field[], of: string, detail: string): Suggestion[] {
  return namesBelow(fields, of).map((label) => ({
    label,
    kind: "name",
    detail,
    about: valueAt(fields, [of, label, "description"]) ?? valueAt(fields, [of, label]) ?? "",
    boost: 0,
  }));
}

/** Behind a `$` in a prompt. */
function variablesAt(fields: readonly Field[], place: Place): Offered | null {
  const begun = /\$[A-Za-z0-9-]*$/.exec(place.word);
  if (begun === null || (place.path[0] !== "tasks" && place.path[0] !== "promptVariables"))
    return null;
  const own = namesBelow(fields, "promptVariables").map((name) => ({
    name,
    detail: "a prompt variable of this entry",
    about: valueAt(fields, ["promptVariables", name, 0]) ?? "",
  }));
  const filled = FILLED_IN.map(([name, about]) => ({ name, detail: "filled in", about }));
  return {
    from: place.from + begun.index,
    suggestions: [...own, ...filled].map(({ name, detail, about }) => ({
      label: `$${name}`,
      kind: "variable",
      detail,
      about,
      boost: 0,
    })),
  };
}
