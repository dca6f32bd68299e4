/** Parses markdown beside the page: a text that takes for ever must not hold it. */

import { type Colours, htmlOf } from "./prose";

export type ProseRequest = { id: number; text: string; top: number };
export type Written = { id: number; html: string | null };

// A short text can be made to become a very long one, by naming one long address again and again.
const MOST = 4_000_000;

async function written({ id, text, top }: ProseRequest): Promise<Written> {
  try {
    const colours: Colours | undefined = /```|~~~/.test(text)
      ? (await import("./highlight")).colours
      : undefined;
    const html = htmlOf(text, top, colours);
    return { id, html: html.length > MOST ? null : html };
  } catch {
    return { id, html: null }; // nested too deeply
  }
}

addEventListener("message", ({ data }: MessageEvent<ProseRequest>) => {
  void written(data).then((answer) => postMessage(answer));
});
