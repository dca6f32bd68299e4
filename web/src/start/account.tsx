/** Whose models these are, and how to get others. */

import type { Status } from "../api/types.gen";
import { Note } from "../parts/note";
import { visible } from "../words";
import type { Offers } from "./offers";

export function Account({ offers, status }: { offers: Offers; status: Status | null }) {
  if (offers.trouble !== null) {
    return (
      <Note kind="err" title="Could not load the models.">
        <p>{visible(offers.trouble)}</p>
        <p class="row wrap gap">
          <button type="button" class="btn sm" onClick={offers.again}>
            Try again
          </button>
          <a href="/settings.html">Open the doctor</a>
        </p>
      </Note>
    );
  }
  if (status === null || offers.list === null) return null;
  if (!status.rehearsal.on) {
    if (offers.list.length > 0) return null;
    return (
      <Note kind="err" title="No model is available.">
        <HowTo status={status} />
      </Note>
    );
  }
  if (!status.rehearsal.builtin) {
    return (
      <Note kind="info" title="This server uses the rehearsal model.">
        The rehearsal model follows a script and is free. The agent, its tools and your files are
        real.
      </Note>
    );
  }
  const alone = offers.list.every(
    ({ id }) => (offers.sources.get(id) ?? "rehearsal") === "rehearsal",
  );
  if (!alone) return null;
  return (
    <Note kind="info" title="You can try everything now without signing in to GitHub Copilot.">
      <p>
        The rehearsal model follows a script and is free. The agent, its tools and your files are
        real.
      </p>
      <HowTo status={status} />
    </Note>
  );
}

function HowTo({ status }: { status: Status }) {
  return (
    <details class="howto">
      <summary>To use a real model, sign in to GitHub Copilot or add a provider</summary>
      <dl>
        <dt>Sign in to GitHub Copilot</dt>
        <dd>
          Set <code>COPILOT_GITHUB_TOKEN</code> in the environment of <code>airboss serve</code>,
          then restart the server.
        </dd>
        <dt>Add a provider</dt>
        <dd>
          Add its name, address and models under <code>[[providers]]</code> in{" "}
          <code>{visible(status.data_folder)}/settings.toml</code>, then restart the server.
        </dd>
      </dl>
      <p>
        <a href="/settings.html">Settings</a> shows who is signed in and which providers are set up.
      </p>
    </details>
  );
}
