/** `User`, `Reasoning` and `Message`: what was said, laid out as it arrives. */

import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { file, whyNot } from "../api/client";
import type { PromptImage } from "../api/types.gen";
import { CopyButton } from "../parts/copy";
import { Fold } from "../parts/fold";
import { looksLikeMarkdown, Markdown, MOST_MARKDOWN } from "../parts/markdown";
import type { TextBlock } from "../state/types";
import { visible, visibleProse } from "../words";
import { ForksBefore, Home, useChoice } from "./remember";
import { firstLine, opensItself, theEnd } from "./said";
import { Shell } from "./shell";

export function Text({ block }: { block: TextBlock }) {
  const raw = useChoice(block.id, "raw");
  const isDocument = block.text.length <= MOST_MARKDOWN && looksLikeMarkdown(block.text);
  const isRaw = raw.value ?? false;
  const isOpen = useChoice(block.id, "open").value ?? opensItself(block);
  const turn = isDocument && isOpen && !block.receiving && (
    <button
      type="button"
      class="btn ghost sm raw"
      data-still
      onClick={() => {
        raw.value = !isRaw;
      }}
    >
      {isRaw ? "View Markdown" : "View Raw Data"}
    </button>
  );
  return (
    <Shell
      block={block}
      summary={firstLine(block.text)}
      looks={block.title === "TaskDecision" ? "decision" : ""}
      beside={
        <>
          {turn}
          {isOpen && <Fork block={block} />}
          {!block.receiving && block.text !== "" && (
            <CopyButton
              text={block.text}
              what={`the ${block.kind === "user" ? "message" : "text"}`}
            />
          )}
        </>
      }
    >
      {() => (
        <>
          <Words block={block} isDocument={isDocument} isRaw={isRaw} />
          {block.images && <Images images={block.images} />}
        </>
      )}
    </Shell>
  );
}

/** On a message that began a turn. */
function Fork({ block }: { block: TextBlock }) {
  const fork = useContext(ForksBefore);
  if (fork === null || block.kind !== "user" || block.title === "Steered") return null;
  return (
    <button
      type="button"
      class="btn ghost sm raw"
      data-still
      title="Start a new session with everything before this message"
      onClick={() => fork(block.id)}
    >
      Fork before this
    </button>
  );
}

type Said = { block: TextBlock; isDocument: boolean; isRaw: boolean };

function Words({ block, isDocument, isRaw }: Said) {
  if (block.receiving && block.kind === "reasoning") return <Receiving text={block.text} />;
  if (isDocument && !isRaw) return <Markdown text={block.text} live={block.receiving} />;
  if (isRaw) return <Fold text={block.text} lines={400} label="Raw data" />;
  return <Plain text={block.text} live={block.receiving} />;
}

/** As the server has them: nothing of them comes from elsewhere. */
function Images({ images }: { images: readonly PromptImage[] }) {
  const session = useContext(Home);
  return (
    <ul class="pictures" aria-label="Images in this message">
      {images.map(({ id }, place) => (
        <li key={id}>
          <Image
            path={`/api/v1/sessions/${session}/images/${id}`}
            alt={`Image ${place + 1} of this message`}
          />
        </li>
      ))}
    </ul>
  );
}

/** Fetched: an image that the browser asks for by itself would go without the page's key. */
function Image({ path, alt }: { path: string; alt: string }) {
  const [address, show] = useState<string | null>(null);
  const [trouble, tell] = useState<string | null>(null);
  useEffect(() => {
    let gone = false;
    let made: string | null = null;
    void file(path).then((answer) => {
      if (gone) return;
      if (answer.kind !== "ok") return tell(whyNot(answer));
      made = URL.createObjectURL(answer.body.blob);
      show(made);
    });
    return () => {
      gone = true;
      if (made !== null) URL.revokeObjectURL(made);
    };
  }, [path]);
  if (trouble !== null) return <span class="trouble">{visible(trouble)}</span>;
  if (address === null) return <span class="small muted">{alt}</span>;
  return (
    <a href={address} target="_blank" rel="noreferrer">
      <img src={address} alt={alt} />
    </a>
  );
}

/** As long as a plain text may be before it is folded. */
const LONG = 6_000;
/** Of one that still comes its end is shown: nobody reads more of it at once. */
const LONGEST_COMING = 20_000;

function Plain({ text, live }: { text: string; live: boolean }) {
  const wasLive = useRef(live); // what somebody saw coming does not fold under their eyes
  const most = wasLive.current ? LONGEST_COMING : LONG;
  if (!live && text.length > most) return <Fold text={text} lines={60} />;
  const shown = live ? text.slice(-LONGEST_COMING) : text;
  return (
    <div class="prose lines">
      {visibleProse(shown)}
      {live && <span class="caret" />}
    </div>
  );
}

/** The end of what has come so far, as it came. The top is faded only where it is cut. */
function Receiving({ text }: { text: string }) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const body = element.current?.parentElement;
    if (body) body.classList.toggle("over", body.scrollHeight > body.clientHeight + 1);
  });
  return (
    <div ref={element} class="coming">
      {visibleProse(theEnd(text))}
      <span class="caret" />
    </div>
  );
}
