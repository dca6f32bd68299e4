/** What a writer has to know, one line each: another version, a server that is away, a save. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog";
import { Diff } from "../parts/diff";
import { Icon, type IconName } from "../parts/icon";
import { addressOf, goTo } from "../parts/pages";
import { clock, visible } from "../words";
import type { Desk } from "./desk";
import type { Draft, Version } from "./draft";
import { diffOf } from "./lines";

export function Strips({ desk, draft }: { desk: Desk; draft: Draft }) {
  const locked = desk.locked.value;
  return (
    <>
      {locked !== null && (
        <Strip icon="lock" isInfo>
          Read only. {visible(locked)}
        </Strip>
      )}
      {desk.away.value && (
        <Strip icon="broken">
          The server is not responding. What you write is kept in this browser, and is checked once
          the server is back.
        </Strip>
      )}
      {desk.isLoose.value && (
        <Strip icon="warning">
          This browser has no room to keep the draft. Save it before you leave the page.
        </Strip>
      )}
      {draft.other !== null && <Changed desk={desk} draft={draft} other={draft.other} />}
      {desk.unchecked.value !== null && desk.unchecked.value !== locked && (
        <Strip icon="info" isInfo>
          Not checked. {visible(desk.unchecked.value)}
        </Strip>
      )}
      <Outcome desk={desk} />
    </>
  );
}

type StripProps = { icon: IconName; isInfo?: boolean; children: ComponentChildren };

const Strip = ({ icon, isInfo = false, children }: StripProps) => (
  <div class={isInfo ? "strip info" : "strip"} role={isInfo ? "status" : "alert"}>
    <Icon name={icon} />
    <span>{children}</span>
  </div>
);

type ChangedProps = { desk: Desk; draft: Draft; other: Version };

function Changed({ desk, draft, other }: ChangedProps) {
  const [isCompared, compare] = useState(false);
  const at = other.modifiedAt === null ? "" : ` at ${clock(other.modifiedAt).slice(0, 5)}`;
  const close = () => compare(false);
  const keep = () => {
    close();
    desk.keepMine();
  };
  const take = () => {
    close();
    desk.takeTheirs();
  };
  return (
    <div class="strip" role="alert">
      <Icon name="warning" />
      <span>{other.exists ? `Changed on disk${at}.` : "The file was deleted on disk."}</span>
      <span class="row wrap">
        <button type="button" class="btn sm" onClick={() => compare(true)}>
          Compare
        </button>
        <button type="button" class="btn sm" onClick={keep}>
          Keep mine
        </button>
        <button type="button" class="btn sm" onClick={take}>
          Take theirs
        </button>
      </span>
      {isCompared && (
        <Dialog title="The version on disk and yours" wide onClose={close}>
          <p class="muted">
            Red is only on disk, green is only in your text. Keep mine: your next save replaces the
            version on disk. Take theirs: your text is replaced; Ctrl+Z brings it back.
          </p>
          <Diff diff={diffOf(other.text, draft.text)} path={draft.path} />
          <div class="row wrap">
            <button type="button" class="btn" data-first onClick={close}>
              Decide later
            </button>
            <button type="button" class="btn" onClick={keep}>
              Keep mine
            </button>
            <button type="button" class="btn" onClick={take}>
              Take theirs
            </button>
          </div>
        </Dialog>
      )}
    </div>
  );
}

function Outcome({ desk }: { desk: Desk }) {
  const saved = desk.saved.value;
  if (saved === null) return null;
  if (saved.kind === "failed") {
    return <Strip icon="warning">Not saved. {visible(saved.why)}</Strip>;
  }
  return (
    <Strip icon={saved.kind === "in-use" ? "tick" : "info"} isInfo>
      {saved.kind === "in-use"
        ? "Saved. In use now. "
        : `Saved. Not in use: ${visible(saved.why)} `}
      <a
        href={addressOf("jobs")}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          void goTo("jobs");
        }}
      >
        {saved.kind === "in-use" ? "Run it on the Jobs page" : "Open the Jobs page"}
      </a>
    </Strip>
  );
}
