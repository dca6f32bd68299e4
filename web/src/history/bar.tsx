/** What the history is filtered by. */

import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "../api/client";
import type { JobList, ModelList, RunFilters } from "../api/types.gen";
import { useList } from "../live/use";
import { visible } from "../words";
import { allJobs, type Filters, isFiltered, KINDS, NO_FILTERS, STATES, TIMES } from "./filters";

const WRITING_MS = 300;

type BarProps = { filters: Filters; onFilter: (next: Filters) => void };

export function Bar({ filters, onFilter }: BarProps) {
  const jobs = useList<JobList>("/api/v1/jobs").state.value?.items ?? [];
  const kept = useKept();
  const models = useList<ModelList>("/api/v1/models").state.value?.items ?? [];
  const [text, write] = useState(filters.text);
  const shown = useRef(filters.text);
  if (shown.current !== filters.text) {
    shown.current = filters.text;
    write(filters.text);
  }
  // asked for once nobody writes any more
  useEffect(() => {
    if (text === filters.text) return;
    const timer = setTimeout(() => {
      shown.current = text;
      onFilter({ ...filters, text });
    }, WRITING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const set = (name: keyof Filters) => (value: string) => onFilter({ ...filters, [name]: value });
  const named = (names: readonly (readonly [string, string])[], any: string) =>
    Object.fromEntries([["", any], ...names]);
  return (
    <search class="filters">
      <input
        class="input"
        type="search"
        aria-label="Search names and transcripts"
        placeholder="Search names and transcripts"
        value={text}
        onInput={(event) => write(event.currentTarget.value)}
      />
      <Choice label="Kind" choices={KINDS} value={filters.kind} onChoose={set("kind")} />
      <Choice label="State" choices={STATES} value={filters.state} onChoose={set("state")} />
      <Choice label="Time" choices={TIMES} value={filters.time} onChoose={set("time")} />
      <Choice
        label="Job"
        choices={named(
          allJobs(
            jobs.map(({ name }) => name),
            kept.known.jobs,
          ).map((name) => [name, visible(name)] as const),
          "Any job",
        )}
        value={filters.job}
        onChoose={set("job")}
        onFocus={kept.again}
      />
      {(kept.known.tags.length > 0 || filters.tag !== "") && (
        <Choice
          label="Tag"
          choices={named(
            kept.known.tags.map((tag) => [tag, visible(tag)] as const),
            "Any tag",
          )}
          value={filters.tag}
          onChoose={set("tag")}
          onFocus={kept.again}
        />
      )}
      <Choice
        label="Model"
        choices={named(
          models.map(({ id, name }) => [id, visible(name)] as const),
          "Any model",
        )}
        value={filters.model}
        onChoose={set("model")}
      />
      {isFiltered(filters) && (
        <button type="button" class="btn ghost sm" onClick={() => onFilter(NO_FILTERS)}>
          Clear filters
        </button>
      )}
    </search>
  );
}

const NOTHING_KEPT: RunFilters = { jobs: [], tags: [] };

/** What kept runs are of: asked for once, and again by whoever is about to choose. */
function useKept() {
  const [known, know] = useState(NOTHING_KEPT);
  const ask = async () => {
    const answer = await get<RunFilters>("/api/v1/run-filters");
    if (answer.kind === "ok") know(answer.body);
  };
  useEffect(() => void ask(), []);
  return { known, again: () => void ask() };
}

type ChoiceProps = {
  label: string;
  choices: Record<string, string>;
  value: string;
  onChoose: (value: string) => void;
  onFocus?: () => void;
};

function Choice({ label, choices, value, onChoose, onFocus }: ChoiceProps) {
  const known = Object.hasOwn(choices, value) ? choices : { ...choices, [value]: visible(value) };
  return (
    <select
      class={value === "" ? "select chip" : "select chip on"}
      aria-label={label}
      value={value}
      onFocus={onFocus}
      onChange={(event) => onChoose(event.currentTarget.value)}
    >
      {Object.entries(known).map(([name, word]) => (
        <option key={name} value={name}>
          {word}
        </option>
      ))}
    </select>
  );
}
