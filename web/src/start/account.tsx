/** Whose models these are, and how to get others. */

import type { Status } from "../api/types.gen";
import { Barred } from "../parts/barred";
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
        <HowTo />
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
      <HowTo />
    </Note>
  );
}

/** The next step: both work on the page, without a restart. */
function HowTo() {
  return (
    <div class="howto">
      <p>To use a real model, sign in to GitHub Copilot or add a provider of your own:</p>
      <p class="row wrap gap">
        <a class="btn sm" href="/settings.html#sign-in">
          Sign in
        </a>
        <a class="btn sm" href="/settings.html#add-provider">
          Add a provider
        </a>
      </p>
      <Barred needs="own" />
    </div>
  );
}
