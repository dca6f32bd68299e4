/** The server's settings: what each means, where it is set, and a way to change it. */

import { useId, useState } from "preact/hooks";
import { patch, remove } from "../api/client";
import { barred } from "../api/role";
import type { Setting } from "../api/types.gen";
import { now } from "../live/feed";
import { Barred } from "../parts/barred";
import { confirmed } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { fully, visible, when } from "../words";
import { useKept } from "./kept";
import { effectInWords, same, textOf, typedValue, type Value, valueInWords } from "./values";

const ADDRESS = "/api/v1/settings";
const LOOPS = "loop_detection.";

type Acts = {
  change: (setting: Setting, value: Value) => Promise<boolean>;
  reset: (setting: Setting) => Promise<void>;
};

export function ServerSettings() {
  const { items, trouble, change } = useKept<Setting>(ADDRESS, "settings");
  const all = items ?? [];
  const loops = all.filter(({ name }) => name.startsWith(LOOPS));
  const fixed = all.filter(({ changeable, locked }) => !changeable && !locked);
  const first = all.filter((one) => !loops.includes(one) && !fixed.includes(one));
  const acts: Acts = {
    change: async (setting, value) => {
      const sure = !setting.deletes || value === null || (await surely(setting, value));
      return sure && (await change(patch(`${ADDRESS}/${setting.name}`, { value })));
    },
    reset: async (setting) => {
      if (setting.deletes && !(await surely(setting, null))) return;
      await change(remove(`${ADDRESS}/${setting.name}`));
    },
  };
  return (
    <section class="panel" id="server" aria-labelledby="server-title" aria-busy={items === null}>
      <header>
        <h2 id="server-title">Server settings</h2>
        <span class="small muted">For everyone who uses this server</span>
      </header>
      <div class="pad stack-3">
        <p class="muted">
          Changes made here are stored in the database. They override the settings file, which is
          never changed. Command-line options and environment variables override them.
        </p>
        <Barred needs="own" />
        <p class={trouble === null ? "vh" : "trouble"} role="status">
          {trouble !== null && visible(trouble)}
        </p>
      </div>
      <Rows settings={first} acts={acts} label="Server settings" />
      {loops.length > 0 && (
        <details class="more">
          <summary>Loop detection ({loops.length})</summary>
          <Rows settings={loops} acts={acts} label="Loop detection" />
        </details>
      )}
      {fixed.length > 0 && (
        <details class="more">
          <summary>Only set when the server starts ({fixed.length})</summary>
          <Rows settings={fixed} acts={acts} label="Only set when the server starts" />
        </details>
      )}
    </section>
  );
}

const surely = (setting: Setting, value: Value): Promise<boolean> =>
  confirmed({
    title: value === null ? "Reset this setting?" : "Change this setting and delete old data?",
    body: `${setting.name}${value === null ? "" : ` = ${valueInWords(value)}`}: ${setting.meaning} Deleted data cannot be restored.`,
    action: value === null ? "Reset" : "Change",
    keep: "Cancel",
  });

function Rows(props: { settings: readonly Setting[]; acts: Acts; label: string }) {
  return (
    <ul class="settings" aria-label={props.label}>
      {props.settings.map((setting) => (
        <Row key={setting.name} setting={setting} acts={props.acts} />
      ))}
    </ul>
  );
}

function Row({ setting, acts }: { setting: Setting; acts: Acts }) {
  const [changing, edit] = useState(false);
  const { name, changeable, changed_by, effect, in_use, value } = setting;
  const told = useId();
  return (
    <li aria-labelledby={told}>
      <div>
        <code class="b" id={told}>
          {name}
        </code>
        <small>{setting.meaning}</small>
        {changeable && <small class="faint">{effectInWords(effect)}</small>}
      </div>
      <div>
        <span class="b">{visible(valueInWords(value))}</span>
        {setting.source !== "default" && (
          <small>Default: {visible(valueInWords(setting.default))}</small>
        )}
        {!setting.locked && (
          <small>
            <Where setting={setting} />
          </small>
        )}
        {!same(value, in_use) && (
          <small class="waits">Until the next restart: {visible(valueInWords(in_use))}</small>
        )}
        {setting.problem != null && (
          <small class="trouble">This change is not in effect: {visible(setting.problem)}</small>
        )}
        {!changeable && <small>{visible(setting.why_not)}</small>}
      </div>
      <div class="acts">
        {changeable ? (
          <button
            type="button"
            class="btn sm"
            aria-expanded={changing}
            aria-label={`Change ${name}`}
            {...barred("own")}
            onClick={() => edit(!changing)}
          >
            Change
          </button>
        ) : (
          <span class="faint" title={visible(setting.why_not)}>
            <Icon name="lock" />
            <span class="vh">Locked</span>
          </span>
        )}
        {changed_by != null && (
          <button
            type="button"
            class="btn ghost sm"
            aria-label={`Reset ${name}`}
            {...barred("own")}
            onClick={() => void acts.reset(setting)}
          >
            Reset
          </button>
        )}
      </div>
      {changing && changeable && (
        <Changing
          setting={setting}
          onSave={async (typed) => {
            if (await acts.change(setting, typed)) edit(false);
          }}
          onLeave={() => edit(false)}
        />
      )}
    </li>
  );
}

function Where({ setting: { source, set_in, changed_by, changed_at } }: { setting: Setting }) {
  if (source === "default") return <>Default</>;
  if (source !== "change") return <>Set in {visible(set_in)}</>;
  return (
    <>
      Changed here by {visible(changed_by ?? "")}
      {changed_at != null && <span title={fully(changed_at)}>, {when(changed_at, now.value)}</span>}
    </>
  );
}

type ChangingProps = {
  setting: Setting;
  onSave: (value: Value) => Promise<void>;
  onLeave: () => void;
};

function Changing({ setting, onSave, onLeave }: ChangingProps) {
  const { name, kind } = setting;
  const [text, write] = useState(textOf(setting.value));
  const choices = kind === "switch" ? ["true", "false"] : setting.choices;
  const hear = (event: { currentTarget: { value: string } }) => write(event.currentTarget.value);
  const box = { "aria-label": `New value of ${name}`, value: text, onInput: hear, ref: focused };
  return (
    <form
      class="row wrap"
      aria-label={`Change ${name}`}
      onSubmit={(event) => {
        event.preventDefault();
        void onSave(typedValue(kind, text));
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onLeave();
      }}
    >
      {choices.length > 0 && (
        <select class="select grow" {...box}>
          {choices.map((one) => (
            <option key={one} value={one}>
              {kind === "switch" ? valueInWords(one === "true") : one}
            </option>
          ))}
        </select>
      )}
      {choices.length === 0 && kind === "list" && (
        <textarea class="area mono grow" rows={3} placeholder="One per line" {...box} />
      )}
      {choices.length === 0 && kind !== "list" && (
        <input
          class="input grow"
          inputMode={kind === "number" ? "decimal" : "text"}
          placeholder="Leave empty for no value"
          {...box}
        />
      )}
      <button type="submit" class="btn primary sm">
        Save
      </button>
      <button type="button" class="btn ghost sm" onClick={onLeave}>
        Cancel
      </button>
    </form>
  );
}

/** Who asked for the box goes on in it. */
const focused = (box: HTMLElement | null) => {
  if (box === null || box.dataset.seen !== undefined) return;
  box.dataset.seen = "";
  box.focus();
};
