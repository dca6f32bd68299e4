/** Images that go with a request: chosen, pasted or dropped, with a preview of each. */

import { useRef } from "preact/hooks";
import { Icon } from "../parts/icon";
import { visible } from "../words";
import type { Outbox } from "./outbox";

export type Picture = { name: string; mime: string; data: string; url: string };

const MIMES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MOST_BYTES = 5 * 1024 * 1024;
const MOST = 5;

/** Takes what is an image, and says why it did not take the rest. */
export async function take(outbox: Outbox, files: readonly File[]): Promise<void> {
  const images = files.filter((file) => MIMES.includes(file.type));
  const fitting = images.filter((file) => file.size <= MOST_BYTES);
  const read = await Promise.all(fitting.map(pictureOf));
  const all = [...outbox.pictures.peek(), ...read];
  outbox.pictures.value = all.slice(0, MOST);
  const why =
    images.length < files.length
      ? "Only images go with a request: PNG, JPEG, GIF or WebP."
      : fitting.length < images.length
        ? "An image is larger than 5 MB. Make it smaller and attach it again."
        : all.length > MOST
          ? `At most ${MOST} images go with a request.`
          : null;
  if (why !== null) outbox.phase.value = { kind: "refused", why };
}

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

export function Pictures({ outbox }: { outbox: Outbox }) {
  const pictures = outbox.pictures.value;
  if (pictures.length === 0) return null;
  const drop = (picture: Picture) => {
    outbox.pictures.value = outbox.pictures.peek().filter((other) => other !== picture);
  };
  return (
    <ul class="pictures" aria-label="Images that go with it">
      {pictures.map((picture) => (
        <li key={picture.url}>
          <img src={picture.url} alt={visible(picture.name)} />
          <button
            type="button"
            class="btn sm icon"
            aria-label={`Remove ${visible(picture.name)}`}
            title="Remove"
            onClick={() => drop(picture)}
          >
            <Icon name="cross" size="s" />
          </button>
        </li>
      ))}
    </ul>
  );
}

export function Attach({ outbox }: { outbox: Outbox }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        class="btn ghost sm icon"
        aria-label="Attach an image"
        title="Attach an image (or paste it, or drop it here)"
        onClick={() => input.current?.click()}
      >
        <Icon name="clip" />
      </button>
      <input
        ref={input}
        class="vh"
        type="file"
        multiple
        accept={MIMES.join(",")}
        aria-label="Images"
        tabIndex={-1}
        onChange={(event) => {
          void take(outbox, [...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}
