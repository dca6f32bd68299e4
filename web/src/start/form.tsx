/** What a session begins with: a model and a folder. */

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { type Answer, get, post, whyNot } from "../api/client";
import { barred, mayNot } from "../api/role";
import type { SessionView, Status } from "../api/types.gen";
import { Barred } from "../parts/barred";
import { FolderTrouble, isAboutFolder } from "../parts/folder-trouble";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { remember } from "../storage";
import { visible } from "../words";
import { Account } from "./account";
import { folderFor, folderInWords } from "./folder";
import { billing, times, usualModel } from "./models";
import type { Offers } from "./offers";

type Failed = Exclude<Answer, { kind: "ok" }>;
type Props = {
  offers: Offers;
  status: Status | null;
  folder: string | null;
  onFolder: (folder: string) => void;
};

/** The runtime may have to start first. */
const PATIENCE_MS = 60_000;

export function StartForm({ offers, status, folder, onFolder }: Props) {
  const [chosen, choose] = useState<string | null>(null);
  const [trouble, setTrouble] = useState<Failed | null>(null);
  const [starting, setStarting] = useState(false);
  const [caged, setCaged] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const ids = useId();
  const model = offers.list?.find(({ id }) => id === chosen) ?? usualModel(offers.list ?? []);
  const may = mayNot("operate") === null;
  const ready = may && model !== null && folder !== null && !starting;
  const wrong = trouble !== null && isAboutFolder(trouble);

  useEffect(() => {
    // A page that the browser kept while it was left comes back as it was: in the middle of a start.
    const back = (event: PageTransitionEvent) => event.persisted && setStarting(false);
    addEventListener("pageshow", back);
    return () => removeEventListener("pageshow", back);
  }, []);

  function write(text: string): void {
    onFolder(text);
    setTrouble(null);
  }

  async function start(): Promise<void> {
    if (!may || model === null || folder === null || starting) return;
    setStarting(true);
    setTrouble(null);
    const wish = { model: model.id, cwd: folder, ...(caged ? { permissions: "caged" } : {}) };
    const answer = await post<SessionView>("/api/v1/sessions", wish, {}, PATIENCE_MS);
    if (answer.kind === "ok") {
      remember("wb", folder);
      location.assign(`/index.html?${new URLSearchParams({ session: answer.body.id })}`);
      return;
    }
    setStarting(false);
    setTrouble(answer);
    if (isAboutFolder(answer)) field.current?.focus();
  }

  return (
    <form
      class="panel start-form"
      aria-label="Start a session"
      aria-busy={offers.list === null && offers.trouble === null}
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <Account offers={offers} status={status} />
      <div class="field">
        <label for={`${ids}model`}>Model</label>
        <select
          id={`${ids}model`}
          class="select"
          aria-describedby={`${ids}billing`}
          disabled={model === null}
          value={model?.id ?? ""}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          {model === null && (
            <option value="">{offers.list === null ? "Loading models…" : "No models"}</option>
          )}
          {offers.list?.map(({ id, name, multiplier }) => (
            <option key={id} value={id} title={visible(id)}>
              {visible(name)} · {times(multiplier)}
            </option>
          ))}
        </select>
        <p class="hint" id={`${ids}billing`}>
          {(model !== null && billing(offers.sources.get(model.id))) || "\u00a0"}
        </p>
      </div>
      <div class="field">
        <label for={`${ids}folder`}>Working directory</label>
        <input
          id={`${ids}folder`}
          ref={field}
          class="input mono"
          value={folder ?? ""}
          disabled={folder === null}
          placeholder={folder === null ? "Loading the default folder…" : undefined}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          aria-invalid={wrong}
          aria-describedby={`${ids}about`}
          onInput={(event) => write(event.currentTarget.value)}
        />
        <p class="hint" id={`${ids}about`}>
          {folderInWords(folder ?? "", status?.repo_root ?? null, askedProject())}
        </p>
        {trouble !== null && (
          <div class="gap">
            {wrong ? (
              <FolderTrouble
                trouble={trouble}
                onTake={(meant) => {
                  write(meant);
                  field.current?.focus();
                }}
              />
            ) : (
              <Note kind="err" title="Could not start the session.">
                {visible(whyNot(trouble))}
              </Note>
            )}
          </div>
        )}
      </div>
      {offersCage(status) && (
        <div class="field">
          <label class="check" for={`${ids}caged`}>
            <input
              id={`${ids}caged`}
              type="checkbox"
              checked={caged}
              aria-describedby={`${ids}walls`}
              onChange={(event) => setCaged(event.currentTarget.checked)}
            />
            Work in a cage, without asking
          </label>
          <p class="hint" id={`${ids}walls`}>
            The agent may do everything in this folder, and the kernel keeps it from everything
            else. <a href="/docs/cage.html">What a cage holds</a>
          </p>
        </div>
      )}
      <Barred needs="operate" />
      <div class="ends">
        <a
          class="btn big"
          href={`/jobs.html?${new URLSearchParams({ wb: folder ?? "" })}`}
          aria-disabled={folder === null}
        >
          <Icon name="job" />
          Jobs
        </a>
        <button
          type="submit"
          class="btn primary big"
          disabled={!ready}
          title={model === null ? "Models are still loading" : undefined}
          {...barred("operate")}
        >
          {starting ? "Starting…" : "Start"}
        </button>
      </div>
    </form>
  );
}

/** Where a strong one holds, and sessions would otherwise ask or do as they like. */
const offersCage = (status: Status | null) =>
  status?.cage === "strong" && (status.policy === "ask" || status.policy === "approve-all");

/** The folder beside the root that the address names. */
export const askedProject = () => new URLSearchParams(location.search).get("project");

/** The folder to begin in, as soon as the server has said where its repository is. */
export function useFolder(): [string | null, (folder: string) => void] {
  const [folder, setFolder] = useState<string | null>(null);
  useEffect(() => {
    let left = false;
    async function ask(): Promise<void> {
      const answer = await get<{ repoRoot: string }>("/api/config");
      if (left) return;
      if (answer.kind !== "ok") {
        setTimeout(() => void ask(), 1_000);
        return;
      }
      setFolder((written) => written ?? folderFor(answer.body.repoRoot, askedProject()));
    }
    void ask();
    return () => {
      left = true;
    };
  }, []);
  return [folder, setFolder];
}
