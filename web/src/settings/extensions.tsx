/** Extensions: what lies on disk, its text or what changed in it before somebody trusts it. */

import { useId, useState } from "preact/hooks";
import { type Answer, get, patch, post, whyNot } from "../api/client";
import { barred } from "../api/role";
import type { ExtensionDetails, ListedExtension } from "../api/types.gen";
import { Barred } from "../parts/barred";
import { confirmed } from "../parts/dialog";
import { Diff } from "../parts/diff";
import { Fold } from "../parts/fold";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { visible } from "../words";
import {
  addressOf,
  canBeTrusted,
  LANGUAGES,
  PATH,
  STATES,
  whereOf,
  whyNotHere,
} from "./extension-words";
import { useKept } from "./kept";

type Acts = {
  change: (changing: Promise<Answer>) => Promise<boolean>;
  tell: (trouble: string | null) => void;
};

/** A session's page leads here with the session's folder. */
const named = new URLSearchParams(location.search).get("project") ?? "";

export function Extensions() {
  const [folder, choose] = useState(named);
  const [adding, add] = useState(false);
  return (
    <section class="panel" id="extensions" aria-labelledby="extensions-title">
      <header>
        <h2 id="extensions-title">Extensions</h2>
        <span class="small muted">Tools and hooks for agents</span>
        <span class="grow" />
        {!adding && (
          <button type="button" class="btn sm" {...barred("own")} onClick={() => add(true)}>
            <Icon name="plus" size="s" />
            New extension
          </button>
        )}
      </header>
      <div class="pad stack-5">
        <p class="muted">
          An extension is a program in a project, or in your own folder of extensions. It runs with
          the rights of the user that this server runs as: it can read and change your files, start
          programs and use the network. It does not run until you trust its exact content.
        </p>
        <ChosenFolder onChoose={choose} />
        <Barred needs="own" />
      </div>
      {/* Another folder is another list. */}
      <List key={folder} folder={folder} adding={adding} onAdded={() => add(false)} />
    </section>
  );
}

function ChosenFolder({ onChoose }: { onChoose: (folder: string) => void }) {
  const [typed, type] = useState(named);
  return (
    <form
      class="row wrap"
      onSubmit={(event) => {
        event.preventDefault();
        onChoose(typed.trim());
      }}
    >
      <input
        class="input mono grow"
        aria-label="Project folder"
        placeholder="Folder of another project. Leave empty for the server’s own."
        value={typed}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <button type="submit" class="btn">
        Show
      </button>
    </form>
  );
}

type ListProps = { folder: string; adding: boolean; onAdded: () => void };

function List({ folder, adding, onAdded }: ListProps) {
  const { items, trouble, change, tell } = useKept<ListedExtension>(
    whereOf(PATH, folder),
    "settings",
  );
  return (
    <>
      {adding && <NewExtension folder={folder} change={change} onLeave={onAdded} />}
      <p class={trouble === null ? "vh" : "trouble pad"} role="status">
        {trouble !== null && visible(trouble)}
      </p>
      {items?.length === 0 && (
        <p class="pad muted">
          No extensions here. Create one above, or with <code>airboss extension new NAME</code>.
        </p>
      )}
      {items !== null && items.length > 0 && (
        <ul class="acc">
          {items.map((one) => (
            <Row
              key={`${one.scope} ${one.name}`}
              extension={one}
              folder={folder}
              change={change}
              tell={tell}
            />
          ))}
        </ul>
      )}
    </>
  );
}

function Row({
  extension,
  folder,
  change,
  tell,
}: { extension: ListedExtension; folder: string } & Acts) {
  const [details, show] = useState<ExtensionDetails | null>(null);
  const { name, scope, language, path, state, reason } = extension;
  const { look, icon, word } = STATES[state];
  const address = addressOf(extension);

  const read = async (): Promise<ExtensionDetails | null> => {
    const answer = await get<ExtensionDetails>(whereOf(address, folder));
    tell(answer.kind === "ok" ? null : whyNot(answer));
    return answer.kind === "ok" ? answer.body : null;
  };
  /** What is trusted is what was shown: the server refuses anything else. */
  const review = async () => {
    const seen = await read();
    if (seen === null) return;
    const no = whyNotHere(seen);
    if (no !== null) {
      tell(no);
      show(seen);
      return;
    }
    const yes = await confirmed({
      title: `Trust the extension ${visible(name)} as it is now?`,
      body: <Reviewed details={seen} />,
      action: "Trust",
      danger: false,
      wide: true,
    });
    if (!yes) return;
    show(null);
    await change(post("/api/v1/trust", { path: seen.path, digest: seen.digest }));
  };
  const turn = (enabled: boolean) =>
    change(patch(address, { enabled, ...(folder !== "" && { cwd: folder }) }));
  return (
    <li>
      <span class={look}>
        <Icon name={icon} />
        {word}
      </span>
      <div>
        <span class="b">{visible(name)}</span>
        <small>
          {scope === "project" ? "Project" : "Yours"} · {LANGUAGES[language]}
          {extension.on_host && <> · runs outside cages</>}
        </small>
        <small class="mono">{visible(path)}</small>
        {reason !== "" && (
          <small class={state === "failed" ? "trouble" : ""}>{visible(reason)}</small>
        )}
        {details !== null && <Details details={details} />}
      </div>
      <span class="row">
        {canBeTrusted(extension) && (
          <button
            type="button"
            class="btn sm"
            aria-label={`Review ${visible(name)}`}
            {...barred("own")}
            onClick={() => void review()}
          >
            Review
          </button>
        )}
        <button
          type="button"
          class="btn ghost sm"
          aria-expanded={details !== null}
          aria-label={`Details of ${visible(name)}`}
          onClick={async () => show(details === null ? await read() : null)}
        >
          Details
        </button>
        <button
          type="button"
          class="btn ghost sm"
          aria-label={`${state === "disabled" ? "Enable" : "Disable"} ${visible(name)}`}
          {...barred("own")}
          onClick={() => void turn(state === "disabled")}
        >
          {state === "disabled" ? "Enable" : "Disable"}
        </button>
      </span>
    </li>
  );
}

function Reviewed({ details }: { details: ExtensionDetails }) {
  return (
    <div class="stack-5">
      <Note kind="info" title="It runs with the rights of the server’s user.">
        It can read and change your files, start programs and use the network.{" "}
        {details.on_host
          ? "In a caged session it runs outside the cage, as the settings say."
          : "In a caged session it runs inside the cage."}
      </Note>
      {details.diff === "" ? (
        <Texts details={details} />
      ) : (
        <>
          <h3>Changed since it was trusted</h3>
          <Diff diff={details.diff} />
        </>
      )}
      <p class="muted">
        SHA-256 <code>{details.digest}</code>
      </p>
    </div>
  );
}

function Texts({ details }: { details: ExtensionDetails }) {
  return (
    <>
      {details.files.map((file) => (
        <section key={file.path} class="stack-3">
          <h3 class="mono">{visible(file.path)}</h3>
          {file.text == null ? (
            <p class="trouble">
              Not shown: not text, or too long ({file.bytes.toLocaleString("en")} bytes). Read the
              file itself before you trust it.
            </p>
          ) : (
            <Fold text={file.text} lines={60} label={`Content of ${visible(file.path)}`} exact />
          )}
        </section>
      ))}
    </>
  );
}

function Details({ details }: { details: ExtensionDetails }) {
  const { tools, hooks, sessions, log, diff } = details;
  return (
    <div class="stack-5 ext">
      {tools.length > 0 && (
        <div class="mods">
          {tools.map((tool) => (
            <span key={tool} class="mod">
              {visible(tool)}
            </span>
          ))}
        </div>
      )}
      {hooks.length > 0 && <small>Hooks: {hooks.map(visible).join(", ")}</small>}
      {sessions.length === 0 ? (
        <small>No open session runs it.</small>
      ) : (
        <ul>
          {sessions.map((run) => (
            <li key={run.session}>
              <small>
                <a href={`/index.html?session=${encodeURIComponent(run.session)}`}>
                  {visible(run.session)}
                </a>
                : {visible(run.state)}
                {run.reason !== "" && `. ${visible(run.reason)}`}
              </small>
            </li>
          ))}
        </ul>
      )}
      {diff !== "" && <Diff diff={diff} />}
      <Texts details={details} />
      {log !== "" && (
        <section class="stack-3">
          <h3>Log</h3>
          <Fold text={log} lines={20} label={`Log of ${visible(details.name)}`} exact />
        </section>
      )}
    </div>
  );
}

type NewProps = Pick<Acts, "change"> & { folder: string; onLeave: () => void };

function NewExtension({ folder, change, onLeave }: NewProps) {
  const id = useId();
  const [name, call] = useState("");
  const [scope, place] = useState<ListedExtension["scope"]>("project");
  const [language, write] = useState<ListedExtension["language"]>("python");
  const create = async () => {
    const asked = { name: name.trim(), scope, language, ...(folder !== "" && { cwd: folder }) };
    if (await change(post(PATH, asked))) onLeave();
  };
  return (
    <form
      class="source-form"
      aria-label="New extension"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <h3>New extension</h3>
      <div class="fgrid">
        <div class="field">
          <label for={`${id}-name`}>Name</label>
          <input
            id={`${id}-name`}
            class="input mono"
            required
            pattern="[a-z0-9][a-z0-9_\-]{0,63}"
            placeholder="my-tools"
            title="Lowercase letters, digits, - and _"
            value={name}
            onInput={(event) => call(event.currentTarget.value)}
          />
        </div>
        <div class="field">
          <label for={`${id}-scope`}>For</label>
          <select
            id={`${id}-scope`}
            class="input"
            value={scope}
            onChange={(event) => place(event.currentTarget.value as ListedExtension["scope"])}
          >
            <option value="project">This project</option>
            <option value="user">All your projects</option>
          </select>
        </div>
        <div class="field">
          <label for={`${id}-language`}>Language</label>
          <select
            id={`${id}-language`}
            class="input"
            value={language}
            onChange={(event) => write(event.currentTarget.value as ListedExtension["language"])}
          >
            <option value="python">Python</option>
            <option value="javascript">JavaScript</option>
          </select>
        </div>
        <p class="hint wide">
          This creates a file that works as it is. Edit it, then come back and trust it. Until then,
          it does not run.
        </p>
      </div>
      <div class="acts">
        <button type="submit" class="btn primary">
          Create
        </button>
        <button type="button" class="btn ghost" onClick={onLeave}>
          Cancel
        </button>
      </div>
    </form>
  );
}
