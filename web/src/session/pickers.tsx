/** What the session goes on with from its next turn on: its model, its effort, its permissions. */

import { barred, mayNot } from "../api/role";
import type { OfferedModel, SessionView } from "../api/types.gen";
import { visible } from "../words";
import { type Switch, switchTo, type Trouble } from "./calls";

/** The narrowest first. */
const POLICIES = ["deny-all", "read-only", "ask", "approve-all"] as const;

type Props = {
  view: SessionView;
  models: readonly OfferedModel[];
  onTrouble: (why: Trouble) => void;
};

export function Pickers({ view, models, onTrouble }: Props) {
  const change = async (wanted: Partial<Switch>) => onTrouble(await switchTo(view.id, wanted));
  const model = models.find(({ id }) => id === view.model);
  const efforts = model?.efforts ?? [];
  const now = (POLICIES as readonly string[]).indexOf(view.policy);
  return (
    <span class="row pickers desk">
      <Picker
        label="Model"
        value={view.model}
        options={(model === undefined
          ? [{ id: view.model, name: view.model }, ...models]
          : models
        ).map(({ id, name }) => ({ value: id, word: visible(name) }))}
        onPick={(id) => void change({ model: id })}
      />
      {efforts.length > 0 && (
        <Picker
          label="Effort"
          value={view.reasoning_effort ?? ""}
          options={[
            ...(view.reasoning_effort == null ? [{ value: "", word: "usual effort" }] : []),
            ...efforts.map((effort) => ({ value: effort, word: effort })),
          ]}
          onPick={(effort) => void change({ reasoningEffort: effort as Switch["reasoningEffort"] })}
        />
      )}
      <Picker
        label="Permissions"
        value={view.policy}
        options={POLICIES.map((policy, place) => ({
          value: policy,
          word: policy,
          off: place > now && mayNot("own") !== null,
        }))}
        onPick={(policy) => void change({ permissions: policy as Switch["permissions"] })}
      />
    </span>
  );
}

type Option = { value: string; word: string; off?: boolean };

type PickerProps = {
  label: string;
  value: string;
  options: readonly Option[];
  onPick: (value: string) => void;
};

const Picker = ({ label, value, options, onPick }: PickerProps) => (
  <select
    class="picker"
    aria-label={label}
    title={`${label}, from the next turn on`}
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
