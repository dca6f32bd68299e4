/** Accounts of Copilot: how each is, and signing in with another token without a restart. */

import { useEffect, useId, useState } from "preact/hooks";
import { type Answer, post, put, remove, whyNot } from "../api/client";
import { serverTime } from "../api/clock";
import { barred } from "../api/role";
import type { AccountTrial, ShownAccount } from "../api/types.gen";
import { confirmed } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { clock, visible } from "../words";
import { useKept } from "./kept";
import { NewSecret } from "./new-secret";
import { howMany } from "./provider-draft";

const PATH = "/api/v1/accounts";
/** The agent runtime may have to start first. */
const PATIENCE_MS = 70_000;
const SHOWN = 4;
const NEVER = Number.POSITIVE_INFINITY;
/** The server's clock is known to two seconds. */
const LATE_MS = 3_000;

const openOn = (sessions: number): string =>
  sessions === 1 ? "1 session uses it" : `${sessions} sessions use it`;

type Acts = { change: (changing: Promise<Answer>) => Promise<boolean> };

export function Accounts() {
  const { items, trouble, change, again } = useKept<ShownAccount>(PATH, "everything");
  const [adding, add] = useState(location.hash === "#sign-in");
  const wakes = Math.min(...(items ?? []).map((one) => one.resting_until ?? NEVER));
  // Nobody tells when a rest is over.
  useEffect(() => {
    if (wakes === NEVER) return undefined;
    const timer = setTimeout(() => void again(), Math.max(0, wakes - serverTime()) + LATE_MS);
    return () => clearTimeout(timer);
  }, [wakes]);
  return (
    <section
      class="panel"
      id="accounts"
      aria-labelledby="accounts-title"
      aria-busy={items === null}
    >
      <header>
        <h2 id="accounts-title">Copilot accounts</h2>
        <span class="small muted">Used in this order</span>
        <span class="grow" />
        {!adding && (
          <button type="button" class="btn sm" {...barred("own")} onClick={() => add(true)}>
            <Icon name="plus" size="s" />
            Sign in with a token
          </button>
        )}
      </header>
      <p class={trouble === null ? "vh" : "trouble pad"} role="status">
        {trouble !== null && visible(trouble)}
      </p>
      {items?.length === 0 && !adding && (
        <p class="pad muted">
          No account is signed in. With a token of GitHub Copilot, agents can use its models.
        </p>
      )}
      <ul class="acc">
        {items?.map((one) => (
          <Row key={one.name} account={one} change={change} />
        ))}
      </ul>
      {adding && <SignIn change={change} onLeave={() => add(false)} />}
    </section>
  );
}

const STATES = {
  fine: { look: "st ok", icon: "tick", word: "Fine" },
  resting: { look: "st waiting", icon: "clock", word: "Resting" },
  missing: { look: "st failed", icon: "cross", word: "No token" },
} as const;
/** That nobody uses the Copilot CLI is no failure. */
const NO_USER = { look: "st waiting", icon: "circle", word: "Not signed in" } as const;

function Row({ account, change }: { account: ShownAccount } & Acts) {
  const [result, know] = useState<AccountTrial | null>(null);
  const [busy, work] = useState(false);
  const [changing, edit] = useState(false);
  const { name, state, sessions } = account;
  const hasNoUser = name === "cli" && state === "missing";
  const { look, icon, word } = hasNoUser ? NO_USER : STATES[state];
  const path = `${PATH}/${encodeURIComponent(name)}`;
  const ours = account.added_by != null;

  const test = async () => {
    work(true);
    const asking = post<AccountTrial>(`${path}/test`, {}, {}, PATIENCE_MS);
    await change(asking);
    const answer = await asking;
    work(false);
    if (answer.kind === "ok") know(answer.body);
  };
  const drop = async () => {
    const yes = await confirmed({
      title: `Sign out the account ${visible(name)}?`,
      body: (
        <>
          Its token is deleted from this machine.
          {sessions > 0 &&
            ` ${openOn(sessions)}, and ${sessions === 1 ? "continues" : "continue"} with another account.`}
        </>
      ),
      action: "Sign out",
    });
    if (yes) await change(remove(path));
  };
  return (
    <li>
      <span class={look}>
        <Icon name={icon} />
        {word}
      </span>
      <div>
        <span class="b">{visible(name)}</span>
        {!hasNoUser && (
          <small>
            Token from {visible(account.how)}
            {sessions > 0 && <> · {openOn(sessions)}</>}
          </small>
        )}
        {account.why != null && (
          <small class={state === "missing" && !hasNoUser ? "trouble" : ""}>
            {visible(account.why)}
            {account.resting_until != null && (
              <> Others come first until {clock(account.resting_until)}, then it is tried again.</>
            )}
          </small>
        )}
        {changing && (
          <NewSecret
            what="token"
            name={name}
            onSave={async (token) => {
              if (await change(put(path, { token }))) {
                edit(false);
                await test();
              }
            }}
            onLeave={() => edit(false)}
          />
        )}
        <div role="status">
          {busy && <small>Asking Copilot…</small>}
          {!busy && result !== null && <Said name={name} result={result} />}
        </div>
      </div>
      <span class="row">
        {ours && (
          <button
            type="button"
            class="btn ghost sm"
            aria-label={`Change the token of ${visible(name)}`}
            {...barred("own")}
            onClick={() => edit(true)}
          >
            Change the token
          </button>
        )}
        <button
          type="button"
          class="btn ghost sm"
          aria-label={`${state === "resting" ? "Try" : "Test"} ${visible(name)}`}
          disabled={busy}
          {...barred("own")}
          onClick={() => void test()}
        >
          {state === "resting" ? "Try now" : "Test"}
        </button>
        {ours && (
          <button
            type="button"
            class="btn ghost sm icon"
            aria-label={`Sign out ${visible(name)}`}
            {...barred("own")}
            onClick={() => void drop()}
          >
            <Icon name="trash" size="s" />
          </button>
        )}
      </span>
    </li>
  );
}

function Said({ name, result }: { name: string; result: AccountTrial }) {
  if (!result.ok)
    return (
      <Note kind="err" title={`The test of ${visible(name)} failed.`}>
        {visible(result.problem ?? "")}
      </Note>
    );
  return (
    <>
      <small>Copilot offers {howMany(result.models.length)} to this account.</small>
      <div class="mods">
        {result.models.slice(0, SHOWN).map((model) => (
          <span key={model} class="mod">
            {visible(model)}
          </span>
        ))}
        {result.models.length > SHOWN && <span class="mod">+{result.models.length - SHOWN}</span>}
      </div>
    </>
  );
}

function SignIn({ change, onLeave }: Acts & { onLeave: () => void }) {
  const id = useId();
  const [name, call] = useState("");
  const [token, write] = useState("");
  const [busy, work] = useState(false);
  const [trouble, tell] = useState<string | null>(null);

  const signIn = async () => {
    work(true);
    tell(null);
    const asked = { token: token.trim() };
    const answer = await post<AccountTrial>("/api/v1/account-tests", asked, {}, PATIENCE_MS);
    const why = answer.kind === "ok" ? answer.body.problem : whyNot(answer);
    if (why != null) tell(why);
    else if (await change(post(PATH, { name: name.trim(), ...asked }))) onLeave();
    work(false);
  };
  return (
    <form
      class="source-form"
      id="sign-in"
      aria-label="Sign in with a token"
      autocomplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        void signIn();
      }}
    >
      <h3>Sign in with a token</h3>
      <div class="fgrid">
        <div class="field">
          <label for={`${id}-name`}>Name</label>
          <input
            id={`${id}-name`}
            class="input"
            required
            placeholder="work"
            value={name}
            onInput={(event) => call(event.currentTarget.value)}
          />
        </div>
        <div class="field">
          <label for={`${id}-token`}>Token</label>
          <input
            id={`${id}-token`}
            class="input mono"
            type="password"
            autocomplete="off"
            required
            value={token}
            onInput={(event) => write(event.currentTarget.value)}
          />
        </div>
        <p class="hint wide">
          A GitHub token of a person who has Copilot. It stays on this machine. It is never shown
          again and never reaches an agent, a log or an export.
        </p>
      </div>
      <div role="status">
        {busy && <p class="small muted">Asking Copilot…</p>}
        {!busy && trouble !== null && (
          <Note kind="err" title="Could not sign in with this token.">
            {visible(trouble)}
          </Note>
        )}
      </div>
      <div class="acts">
        <button type="submit" class="btn primary" disabled={busy}>
          Sign in and test
        </button>
        <button type="button" class="btn ghost" onClick={onLeave}>
          Cancel
        </button>
      </div>
    </form>
  );
}
