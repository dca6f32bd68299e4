/** Parses markdown and colours code beside the page: a text that takes for ever must not hold it. */

import { type Colours, htmlOf } from "./prose";

/** With a `language` the text is code; else it is markdown whose highest heading is of level `top`. */
export type ProseRequest = { id: number; text: string; top: number; language?: string };
export type Written = { id: number; html: string | null };

// A short text can be made to become a very long one, by naming one long address again and again.
const MOST = 4_000_000;

async function written({ id, text, top, language }: ProseRequest): Promise<Written> {
  try {
    const html = language === undefined ? await prose(text, top) : await coloured(text, language);
    return { id, html: html === null || html.length > MOST ? null : html };
  } catch {
    return { id, html: null }; // nested too deeply
  }
}

async function prose(text: string, top: number): Promise<string> {
  const colours: Colours | undefined = /```|~~~/.test(text)
    ? (await import("./highlight")).colours
    : undefined;
  return htmlOf(text, top, colours);
}

const coloured = async (code: string, language: string): Promise<string | null> =>
  (await import("./highlight")).colours(code, language);

addEventListener("message", ({ data }: MessageEvent<ProseRequest>) => {
  void written(data).then((answer) => postMessage(answer));
});
