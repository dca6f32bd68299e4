/** What the entry's schema says of a place: which keys, which values, in which words. Pure. */

import type { Path } from "./fields";

export type Schema = {
  $ref?: string;
  $defs?: Readonly<Record<string, Schema>>;
  type?: string | readonly string[];
  description?: string;
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: boolean | Schema;
  required?: readonly string[];
  items?: Schema;
  prefixItems?: readonly Schema[];
  oneOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  enum?: readonly unknown[];
  const?: unknown;
};

/** The value that is written at a path, null where there is none. */
export type Written = (path: Path) => string | null;

/** All that may stand at the path. A work is told apart by its `kind`, where that is written. */
export function schemasAt(root: Schema, path: Path, written: Written): readonly Schema[] {
  let found = alternatives(root, root, [], written);
  path.forEach((part, at) => {
    const here = path.slice(0, at + 1);
    found = found
      .flatMap((schema) => below(schema, part))
      .flatMap((schema) => alternatives(root, schema, here, written));
  });
  return found;
}

function below(schema: Schema, part: string | number): readonly Schema[] {
  if (typeof part === "number") {
    const item = schema.prefixItems?.[part] ?? schema.items;
    return item === undefined ? [] : [item];
  }
  const named = schema.properties?.[part];
  if (named !== undefined) return [named];
  return typeof schema.additionalProperties === "object" ? [schema.additionalProperties] : [];
}

function alternatives(root: Schema, schema: Schema, at: Path, written: Written): Schema[] {
  const whole = resolved(root, schema);
  const choices = (whole.oneOf ?? whole.anyOf ?? [])
    .flatMap((one) => alternatives(root, one, at, written))
    .filter(says);
  if (choices.length === 0) return [whole];
  const kind = written([...at, "kind"]);
  const chosen = choices.filter(({ properties }) => properties?.kind?.const === kind);
  const own = says(whole) ? [whole] : [];
  return [...own, ...(kind !== null && chosen.length > 0 ? chosen : choices)];
}

const says = ({ type, properties, items, enum: values, const: value }: Schema): boolean =>
  [type, properties, items, values, value].some((said) => said !== undefined);

/** What refers to another says of it what is different here. */
function resolved(root: Schema, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...own } = schema;
  const named = root.$defs?.[$ref.replace("#/$defs/", "")] ?? {};
  return { ...resolved(root, named), ...own };
}

export type Offer = { name: string; about: string; detail: string; isRequired: boolean };

/** The keys that a map may have, those that it must have first. */
export function keysAt(root: Schema, path: Path, written: Written): readonly Offer[] {
  const offers = new Map<string, Offer>();
  for (const schema of schemasAt(root, path, written)) {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const whole = resolved(root, property);
      const isRequired = schema.required?.includes(name) ?? false;
      const about = property.description ?? whole.description ?? "";
      offers.set(name, { name, about, isRequired, detail: kindOf(root, whole) });
    }
    for (const name of schema.required ?? []) {
      if (offers.has(name)) continue;
      offers.set(name, { name, about: "", isRequired: true, detail: "text" });
    }
  }
  return [...offers.values()].sort((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

/** The values that may be written, as far as they can be listed. */
export function valuesAt(root: Schema, path: Path, written: Written): readonly string[] {
  const values = schemasAt(root, path, written).flatMap((schema): unknown[] => {
    if (schema.enum !== undefined) return [...schema.enum];
    if (schema.const !== undefined) return [schema.const];
    return schema.type === "boolean" ? [true, false] : [];
  });
  return [...new Set(values.map(String))];
}

/** What the schema says of the key, and of what stands behind it. */
export function aboutAt(root: Schema, path: Path, written: Written): Offer | null {
  const key = path.at(-1);
  if (typeof key !== "string") return null;
  const around = path.slice(0, -1);
  const named = keysAt(root, around, written).find(({ name }) => name === key);
  if (named !== undefined) return named;
  const [schema] = schemasAt(root, path, written);
  if (schema?.description === undefined) return null;
  const about = schema.description;
  return { name: key, about, detail: kindOf(root, schema), isRequired: false };
}

/** Whether a key's value goes below it, line by line. */
export function opensBlock(root: Schema, path: Path, written: Written): boolean {
  return schemasAt(root, path, written).every(
    ({ type, properties, additionalProperties }) =>
      type === "object" || properties !== undefined || typeof additionalProperties === "object",
  );
}

function kindOf(root: Schema, schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map(String).join(", ");
  if (schema.const !== undefined) return String(schema.const);
  switch (schema.type) {
    case "string":
      return "text";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "true or false";
    case "array":
      return schema.items === undefined
        ? "list"
        : listOf(kindOf(root, resolved(root, schema.items)));
    default:
      return schema.oneOf === undefined && schema.type !== "object" ? "" : "map";
  }
}

const LISTS: Readonly<Record<string, string>> = {
  text: "list of texts",
  number: "list of numbers",
  map: "list of maps",
};

const listOf = (kind: string): string => LISTS[kind] ?? "list";
