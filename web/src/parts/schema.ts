/** A flat JSON Schema as fields of a form, and what was filled in as JSON. Pure. */

export type Field = {
  name: string;
  label: string;
  hint: string;
  kind: "line" | "number" | "tick" | "list" | "choice";
  choices: readonly string[];
  required: boolean;
  whole: boolean;
  first: string | boolean;
};

export type Filled = Readonly<Record<string, string | boolean>>;

type Schema = Record<string, unknown>;

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Null where it is no form that one can draw: then the answer is written as JSON. */
export function fieldsOf(form: string): Field[] | null {
  let schema: unknown;
  try {
    schema = JSON.parse(form);
  } catch {
    return null;
  }
  if (!isSchema(schema) || !isSchema(schema.properties)) return null;
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, part]) =>
    fieldOf(name, isSchema(part) ? part : {}, required.includes(name)),
  );
}

function fieldOf(name: string, part: Schema, required: boolean): Field {
  const choices = Array.isArray(part.enum) ? part.enum.map(String) : [];
  const kind = kindOf(part, choices);
  const first = kind === "tick" ? part.default === true : asText(part.default);
  return {
    name,
    label: text(part.title) || name,
    hint: [text(part.description), bounds(part), kind === "list" ? "One per line." : ""]
      .filter((words) => words !== "")
      .join(" "),
    kind,
    choices,
    required,
    whole: part.type === "integer",
    first,
  };
}

function kindOf(part: Schema, choices: readonly string[]): Field["kind"] {
  if (choices.length > 0) return "choice";
  switch (part.type) {
    case "boolean":
      return "tick";
    case "number":
    case "integer":
      return "number";
    case "array":
      return "list";
    default:
      return "line";
  }
}

function bounds({ minimum, maximum }: Schema): string {
  const [least, most] = [minimum, maximum].map((value) => typeof value === "number");
  if (least && most) return `From ${minimum} to ${maximum}.`;
  if (least) return `At least ${minimum}.`;
  return most ? `At most ${maximum}.` : "";
}

function asText(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join("\n");
  return value === undefined || value === null ? "" : String(value);
}

export const startOf = (fields: readonly Field[]): Filled =>
  Object.fromEntries(fields.map(({ name, first }) => [name, first]));

/** The answer as JSON, or what is still wrong, by field. Only what can be known here: the server checks all. */
export function answerOf(
  fields: readonly Field[],
  filled: Filled,
): { json: string } | { wrong: Readonly<Record<string, string>> } {
  const wrong: Record<string, string> = {};
  const answer: Record<string, unknown> = {};
  for (const field of fields) {
    const given = filled[field.name] ?? "";
    if (typeof given === "boolean") answer[field.name] = given;
    else if (given.trim() === "") {
      if (field.required) wrong[field.name] = "This field is required.";
    } else if (field.kind === "number") {
      const number = Number(given.trim());
      if (!Number.isFinite(number)) wrong[field.name] = "Enter a number.";
      else if (field.whole && !Number.isInteger(number))
        wrong[field.name] = "Enter a whole number.";
      else answer[field.name] = number;
    } else if (field.kind === "list") {
      answer[field.name] = given
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "");
    } else answer[field.name] = given;
  }
  return Object.keys(wrong).length > 0 ? { wrong } : { json: JSON.stringify(answer) };
}
