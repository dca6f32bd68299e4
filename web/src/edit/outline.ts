/** The fields of an entry's text and where they stand: YAML or JSON, whole or half written. It reads
    what it can and refuses nothing: whether the text is right is for the server to say. Pure. */

import type { Field, Place } from "./fields";
import { Reader } from "./reader";

export function outlineOf(text: string): readonly Field[] {
  const reader = new Reader(text);
  reader.read();
  return reader.fields;
}

export function placeAt(text: string, offset: number): Place {
  const reader = new Reader(text.slice(0, offset));
  reader.read();
  return reader.here ?? reader.nowhere();
}
