/** Lets in who is signed in. Only a refusal shows how to: a server that is away says neither yes nor no. */

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { access, endedBy } from "../api/access";
import type { Answer } from "../api/client";
import { doubted } from "../api/role";
import { askWhetherIn, signIn, takeCode } from "../signin";
import { visible } from "../words";
import { confirmed } from "./dialog";
import { Icon } from "./icon";
import { Note } from "./note";

const AGAIN_MS = 3_000;

const refusal = signal<string | null>(null);
const away = signal<{ detail: string | null } | null>(null);

let code: string | null = null;
let knocking = false;
let again = false;

/** Gives the server the code of the address, then asks whether that was enough. */
export async function knock(): Promise<void> {
  if (knocking) {
    again = true; // what is under way may have begun before the reason to ask
    return;
  }
  knocking = true;
  do {
    again = false;
    await round();
  } while (again);
  knocking = false;
}

async function round(): Promise<void> {
  if (code !== null) {
    const mine = code;
    const answer = await exchange(mine);
    if (answer.kind !== "ok" && answer.kind !== "refused") return wait(answer);
    if (code === mine) code = null; // else another address was opened meanwhile
    refusal.value =
      answer.kind === "ok"
        ? null
        : (answer.detail ?? "The server did not accept this sign-in link.");
  }
  const answer = await askWhetherIn();
  if (answer.kind !== "ok") return wait(answer);
  away.value = null;
}

/** A person who is signed in under another name is asked first. */
async function exchange(code: string): Promise<Answer> {
  const answer = await signIn(code, false);
  if (answer.kind !== "ok" || answer.body.instead_of == null) return answer;
  await askWhetherIn(); // what is behind the question is the page as they know it
  const { who, instead_of } = answer.body;
  const yes = await confirmed({
    title: `Sign in as ${visible(who ?? "")} instead?`,
    body: `You are signed in as ${visible(instead_of)}. This link signs this browser in as ${visible(who ?? "")}, in all tabs.`,
    action: `Sign in as ${visible(who ?? "")}`,
    keep: `Stay signed in as ${visible(instead_of)}`,
    danger: false,
  });
  return yes ? signIn(code, true) : answer;
}

/** A code that the server never got is kept for the next try. */
function wait(answer: Answer): void {
  away.value = { detail: answer.kind === "failed" ? answer.detail : null };
  setTimeout(() => {
    if (access.value === "asking" || code !== null) void knock();
  }, AGAIN_MS);
}

function arrive(): void {
  code = takeCode() ?? code;
  void knock();
}

doubted.subscribe((count) => void (count > 0 && knock()));

arrive(); // takes the code out of the address before anything is drawn
// A new address pasted over this page changes the fragment only: the page is not loaded again.
addEventListener("hashchange", () => location.hash.includes("code=") && arrive());

/** What is inside is made only once somebody is in, and goes when they are out. */
export function SignIn({ title, children }: { title: string; children: ComponentChildren }) {
  const out = access.value === "out";
  useEffect(() => {
    document.title = `${out ? "Sign in" : visible(title)} · Airboss`;
  }, [out, title]);
  if (out) return <SignedOut />;
  if (access.value === "asking") return <Asking />;
  return <>{children}</>;
}

function Asking() {
  if (away.value === null) {
    return (
      <p class="gate load" aria-busy="true">
        <Icon name="clock" /> Contacting the server…
      </p>
    );
  }
  return (
    <div class="gate">
      <Away />
    </div>
  );
}

function Away() {
  const detail = away.value?.detail ?? null;
  return (
    <Note
      kind="stale"
      title={detail === null ? "The server is not responding." : "The server returned an error."}
    >
      {detail !== null && <p>{visible(detail)}</p>}
      <p>
        Retrying every {AGAIN_MS / 1000} s. If the server was stopped, start it with{" "}
        <code>airboss serve</code>.
      </p>
      <button type="button" class="btn sm" onClick={() => void knock()}>
        Try now
      </button>
    </Note>
  );
}

function SignedOut() {
  return (
    <div class="gate">
      <h1>Sign in to Airboss</h1>
      <p class="muted">To sign in, you need terminal access to the machine running Airboss.</p>
      <section class="panel stack-5" aria-label="How to sign in">
        {refusal.value !== null && (
          <Note kind="err" title="This sign-in link did not work.">
            {visible(refusal.value)} Each link works once. Get a new one as described below.
          </Note>
        )}
        {refusal.value === null && endedBy.value !== null && (
          <Note kind="info" title="This browser has been signed out.">
            {visible(endedBy.value).replace(/`([^`]*)`/g, "“$1”")}
          </Note>
        )}
        {away.value !== null && <Away />}
        <ol class="steps">
          <li>
            <p>In a terminal on the machine running Airboss, run:</p>
            <pre class="command">
              <code>airboss link</code>
            </pre>
          </li>
          <li>
            <p>Open the address that it prints in this browser.</p>
          </li>
        </ol>
        <div class="ends">
          <span class="hint">Signed in from another tab?</span>
          <button type="button" class="btn" onClick={() => void knock()}>
            Check again
          </button>
        </div>
      </section>
    </div>
  );
}
