/** What came of a test: the time to the first word and the models to choose from, or what is wrong. */

import type { TrialResult } from "../api/types.gen";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { instant, visible } from "../words";
import { factsInWords, howMany } from "./provider-draft";

type Props = {
  name: string;
  result: TrialResult;
  chosen: ReadonlySet<string>;
  onChoose: (chosen: Set<string>) => void;
};

export function Trial({ name, result, chosen, onChoose }: Props) {
  if (!result.ok)
    return (
      <Note kind="err" title={`${visible(name)} does not work yet.`}>
        {visible(result.problem ?? "")}
      </Note>
    );
  const offered = result.models ?? [];
  const choose = (id: string, ticked: boolean) => {
    const next = new Set(chosen);
    if (ticked) next.add(id);
    else next.delete(id);
    onChoose(next);
  };
  return (
    <div class="trial">
      <p>
        <Icon name="tick" />
        <span>
          <b class="b">
            {visible(name)} answered in {instant(result.first_word_ms ?? 0)}.
          </b>{" "}
          One call to {visible(result.model ?? "")}
          {result.tokens != null && `, ${result.tokens} tokens`}.{" "}
          {offered.length > 0
            ? `It offers ${howMany(offered.length)}. Select those that people may use:`
            : "It does not list its models. Enter the names of those that people may use."}
        </span>
      </p>
      {offered.length > 0 && (
        <ul aria-label={`Models of ${visible(name)}`}>
          {offered.map((model) => (
            <li key={model.id}>
              <label>
                <input
                  type="checkbox"
                  checked={chosen.has(model.id)}
                  disabled={model.chat === false}
                  onChange={(event) => choose(model.id, event.currentTarget.checked)}
                />
                <span class="mono">{visible(model.id)}</span>
              </label>
              <span class="faint">{factsInWords(model)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
