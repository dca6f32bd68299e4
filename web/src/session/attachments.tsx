/** Images and text files that go with a request: chosen, pasted or dropped, each to see and to remove. */

import { useRef } from "preact/hooks";
import { Icon } from "../parts/icon";
import { visible } from "../words";
import type { Outbox } from "./outbox";
import { markedWords } from "./selection";

export type Picture = { name: string; mime: string; data: string; url: string };

/** A text file: its content goes into the request, as a block of code. */
export type Attached = { name: string; text: string };

const MIMES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MOST_BYTES = 5 * 1024 * 1024;
const MOST = 5;
const MOST_TEXT = 100_000;

/** Takes images and texts, and says why it did not take the rest. */
export async function take(outbox: Outbox, files: readonly File[]): Promise<void> {
  const why = new Set<string>();
  for (const file of files) {
    const refused = MIMES.includes(file.type)
      ? await takePicture(outbox, file)
      : await takeText(outbox, file);
    if (refused !== null) why.add(refused);
  }
  if (why.size > 0) outbox.phase.value = { kind: "refused", why: [...why].join(" ") };
}

async function takePicture(outbox: Outbox, file: File): Promise<string | null> {
  if (file.size > MOST_BYTES) {
    return "Images can be up to 5 MB. Make the image smaller and attach it again.";
  }
  const picture = await pictureOf(file);
  const all = [...outbox.pictures.peek(), picture];
  outbox.pictures.value = all.slice(0, MOST);
  return all.length > MOST ? `You can attach up to ${MOST} images to a message.` : null;
}

async function takeText(outbox: Outbox, file: File): Promise<string | null> {
  const name = visible(file.name) || "Pasted file";
  if (file.size > MOST_TEXT) {
    return `${name} is larger than 100 KB and cannot be attached. Save it in the folder and mention it with @.`;
  }
  const text = await file.text();
  if (text.includes("\0") || text.includes("\ufffd")) {
    return `${name} is not a text file or an image (PNG, JPEG, GIF, WebP). Save it in the folder and mention it with @.`;
  }
  const all = [...outbox.files.peek(), { name, text }];
  outbox.files.value = all.slice(0, MOST);
  return all.length > MOST ? `You can attach up to ${MOST} files to a message.` : null;
}

/** What was written, and behind it the files. Pure. */
export function withFiles(text: string, files: readonly Attached[]): string {
  const blocks = files.map((file) => {
    const fence = "`".repeat(Math.max(3, longestRun(file.text) + 1));
    return `${file.name}:\n${fence}\n${file.text.replace(/\n$/, "")}\n${fence}`;
  });
  return [text, ...blocks].join("\n\n");
}

const longestRun = (text: string): number =>
  Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));

async function pictureOf(file: File): Promise<Picture> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let letters = "";
  for (let at = 0; at < bytes.length; at += 32_768) {
    letters += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  }
  const name = file.name === "" ? "Pasted image" : file.name;
  const data = btoa(letters);
  return { name, mime: file.type, data, url: `data:${file.type};base64,${data}` };
}

export function Attachments({ outbox }: { outbox: Outbox }) {
  const pictures = outbox.pictures.value;
  const files = outbox.files.value;
  const marked = outbox.marked.value;
  return (
    <>
      {marked !== null && (
        <ul class="attached" aria-label="Attached selection">
          <li>
            <Icon name="file" size="s" />
            <span class="mono cut">{markedWords(marked)}</span>
            <Remove
              name={markedWords(marked)}
              onRemove={() => {
                outbox.marked.value = null;
              }}
            />
          </li>
        </ul>
      )}
      {pictures.length > 0 && (
        <ul class="pictures" aria-label="Attached images">
          {pictures.map((picture) => (
            <li key={picture.url}>
              <img src={picture.url} alt={visible(picture.name)} />
              <Remove
                name={picture.name}
                onRemove={() => {
                  outbox.pictures.value = pictures.filter((other) => other !== picture);
                }}
              />
            </li>
          ))}
        </ul>
      )}
      {files.length > 0 && (
        <ul class="attached" aria-label="Attached files">
          {files.map((file, place) => (
            <li key={`${place} ${file.name}`}>
              <Icon name="file" size="s" />
              <span class="mono cut">{visible(file.name)}</span>
              <span class="faint">{file.text.split("\n").length} lines</span>
              <Remove
                name={file.name}
                onRemove={() => {
                  outbox.files.value = files.filter((other) => other !== file);
                }}
              />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const Remove = ({ name, onRemove }: { name: string; onRemove: () => void }) => (
  <button
    type="button"
    class="btn sm icon"
    aria-label={`Remove ${visible(name)}`}
    title="Remove"
    onClick={onRemove}
  >
    <Icon name="cross" size="s" />
  </button>
);

export function Attach({ outbox }: { outbox: Outbox }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        class="btn ghost sm icon"
        aria-label="Attach files"
        title="Attach images or text files (or paste or drop them here)"
        onClick={() => input.current?.click()}
      >
        <Icon name="clip" />
      </button>
      <input
        ref={input}
        class="vh"
        type="file"
        multiple
        aria-label="Files"
        tabIndex={-1}
        onChange={(event) => {
          void take(outbox, [...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}
