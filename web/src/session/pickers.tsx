/** What the session goes on with from its next turn on: its model, its effort, its mode, its permissions,
 *  its agent. Where there is no room for them, they are in a sheet behind one button. */

import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { barred, mayNot } from "../api/role";
import type { OfferedModel, SessionView } from "../api/types.gen";
import { Icon } from "../parts/icon";
import { visible } from "../words";
import { type Switch, switchTo, type Trouble } from "./calls";
import type { Outbox } from "./outbox";

/** The narrowest first. */
const POLICIES = ["deny-all", "read-only", "ask", "caged", "approve-all"] as const;

type Props = {
  view: SessionView;
  models: readonly OfferedModel[];
  /** Those that the session has. */
  agents: readonly string[];
  outbox: Outbox;
  onTrouble: (why: Trouble) => void;
};

type Choice = { label: string; value: string; options: Option[]; onPick: (value: string) => void };

/** A session enters or leaves a cage only as a fork of itself. */
function crosses(policy: string, view: SessionView): boolean {
  if (policy === view.policy) return false;
  return policy === (view.cage_profile == null ? "caged" : "approve-all");
}

function choicesOf({ view, models, agents, outbox, onTrouble }: Props): Choice[] {
  const change = async (wanted: Partial<Switch>) => onTrouble(await switchTo(view.id, wanted));
  const model = models.find(({ id }) => id === view.model);
  const efforts = model?.efforts ?? [];
  const now = (POLICIES as readonly string[]).indexOf(view.policy);
  const offered = model === undefined ? [{ id: view.model, name: view.model }, ...models] : models;
  const all: Choice[] = [
    {
      label: "Model",
      value: view.model,
      options: offered.map(({ id, name }) => ({ value: id, word: visible(name) })),
      onPick: (id) => void change({ model: id }),
    },
    {
      label: "Effort",
      value: view.reasoning_effort ?? "",
      options:
        efforts.length === 0
          ? []
          : [
              ...(view.reasoning_effort == null ? [{ value: "", word: "default effort" }] : []),
              ...efforts.map((effort) => ({ value: effort, word: effort })),
            ],
      onPick: (effort) => void change({ reasoningEffort: effort as Switch["reasoningEffort"] }),
    },
    {
      label: "Mode",
      value: outbox.plans.value ? "plan" : "work",
      options: [
        { value: "work", word: "work" },
        { value: "plan", word: "plan first" },
      ],
      onPick: (mode) => {
        outbox.plans.value = mode === "plan";
      },
    },
    {
      label: "Permissions",
      value: view.policy,
      options: POLICIES.map((policy, place) => ({
        value: policy,
        word: policy,
        off: (place > now && mayNot("own") !== null) || crosses(policy, view),
      })),
      onPick: (policy) => void change({ permissions: policy as Switch["permissions"] }),
    },
    {
      label: "Agent",
      value: view.agent ?? "",
      options:
        agents.length === 0
          ? []
          : [
              { value: "", word: "no agent" },
              ...agents.map((name) => ({ value: name, word: visible(name) })),
            ],
      onPick: (agent) => void change({ agent }),
    },
  ];
  return all.filter(({ options }) => options.length > 0);
}

export function Pickers(props: Props) {
  const choices = choicesOf(props);
  return (
    <>
      <span class="row pickers desk">
        {choices.map((choice) => (
          <Picker key={choice.label} {...choice} />
        ))}
      </span>
      <Sheet choices={choices} view={props.view} />
    </>
  );
}

/** For a narrow box: one button that says how it stands, and all choices behind it. */
function Sheet({ choices, view }: { choices: readonly Choice[]; view: SessionView }) {
  const open = useSignal(false);
  const place = useRef<HTMLSpanElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open.value) return;
    const leave = (event: Event) => {
      if (!place.current?.contains(event.target as Node)) open.value = false;
    };
    const press = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      open.value = false;
      place.current?.querySelector("button")?.focus();
    };
    document.addEventListener("pointerdown", leave);
    document.addEventListener("keydown", press);
    return () => {
      document.removeEventListener("pointerdown", leave);
      document.removeEventListener("keydown", press);
    };
  }, [open.value]);
  const word = (label: string) => {
    const choice = choices.find((one) => one.label === label);
    return choice?.options.find(({ value }) => value === choice.value)?.word ?? "";
  };
  return (
    <span class="phone-only sheet" ref={place}>
      <button
        type="button"
        class="btn ghost sm now"
        aria-expanded={open.value}
        aria-controls={open.value ? id : undefined}
        onClick={() => {
          open.value = !open.value;
        }}
      >
        <span class="vh">Model, mode and permissions: </span>
        <b class="cut">{word("Model")}</b>
        <span class="cut">{[view.reasoning_effort, word("Mode")].filter(Boolean).join(", ")}</span>
        <Icon name="down" size="s" />
      </button>
      {open.value && (
        <fieldset id={id} class="pop choices">
          <legend>From the next message on</legend>
          {choices.map((choice) => (
            <span class="choice" key={choice.label}>
              <span aria-hidden="true">{choice.label}</span>
              <Picker {...choice} />
            </span>
          ))}
        </fieldset>
      )}
    </span>
  );
}

const TITLES: Readonly<Record<string, string>> = {
  Mode: "Mode of the next message",
  Permissions:
    "Permissions, from the next turn on. To enter or leave a cage, fork the session. For wider ones you need the role own.",
};

type Option = { value: string; word: string; off?: boolean };

const Picker = ({ label, value, options, onPick }: Choice) => (
  <select
    class="picker"
    aria-label={label}
    title={TITLES[label] ?? `${label}, from the next turn on`}
    value={value}
    {...barred("operate")}
    onChange={(event) => onPick(event.currentTarget.value)}
  >
    {options.map(({ value: each, word, off }) => (
      <option key={each} value={each} disabled={off}>
        {word}
      </option>
    ))}
  </select>
);
