/** Whose models these are, and how to get others. */

import type { Status } from "../api/types.gen";
import { Note } from "../parts/note";
import { visible } from "../words";
import type { Offers } from "./offers";

export function Account({ offers, status }: { offers: Offers; status: Status | null }) {
  if (offers.trouble !== null) {
    return (
      <Note kind="err" title="The models cannot be listed.">
        <p>{visible(offers.trouble)}</p>
        <p class="row wrap gap">
          <button type="button" class="btn sm" onClick={offers.again}>
            Ask again
          </button>
          <a href="/settings.html">See what the doctor says</a>
        </p>
      </Note>
    );
  }
  if (status === null || offers.list === null) return null;
  if (!status.rehearsal.on) {
    if (offers.list.length > 0) return null;
    return (
      <Note kind="err" title="There is no model to use.">
        <HowTo status={status} />
      </Note>
    );
  }
  if (!status.rehearsal.builtin) {
    return (
      <Note kind="info" title="This server rehearses.">
        The rehearsal model plays a script and costs nothing. The agent, its tools and your files
        are real.
      </Note>
    );
  }
  const alone = offers.list.every(
    ({ id }) => (offers.sources.get(id) ?? "rehearsal") === "rehearsal",
  );
  if (!alone) return null;
  return (
    <Note kind="info" title="You can try everything now, without signing in.">
      <p>
        The rehearsal model plays a script and costs nothing. The agent, its tools and your files
        are real.
      </p>
      <HowTo status={status} />
    </Note>
  );
}

function HowTo({ status }: { status: Status }) {
  return (
    <details class="howto">
      <summary>For real answers, sign in to GitHub Copilot or add a provider</summary>
      <dl>
        <dt>Sign in to GitHub Copilot</dt>
        <dd>
          Set <code>COPILOT_GITHUB_TOKEN</code> where you start <code>airboss serve</code>, and
          start it again.
        </dd>
        <dt>Add a provider</dt>
        <dd>
          Name it with its address and its models under <code>[[providers]]</code> in{" "}
          <code>{visible(status.data_folder)}/settings.toml</code>, and start again.
        </dd>
      </dl>
      <p>
        <a href="/settings.html">Settings</a> say who is signed in and which providers there are.
      </p>
    </details>
  );
}
