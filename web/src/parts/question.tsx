/** A question of the agent: numbered choices, words of one's own, or a form. */

import { useId, useState } from "preact/hooks";
import { barred, mayNot } from "../api/role";
import type { QuestionAsked } from "../api/types.gen";
import { visible } from "../words";
import { Decide, type Part } from "./approval";
import { useCardKeys } from "./card-keys";
import { looksLikeMarkdown, Markdown, Raw } from "./markdown";
import { answerOf, type Field, type Filled, fieldsOf, startOf } from "./schema";

export function Question({ asked, stand, say, card, children }: Part<QuestionAsked>) {
  const open = (stand.kind === "open" || stand.kind === "wrong") && mayNot("decide") === null;
  const whole = asked.question.trim();
  const answer = (text: string) => void say("answer", { answer: text });
  const decline = (
    <Decide class="btn ghost sm" disabled={!open} onClick={() => void say("decline", {})}>
      Decline to answer
    </Decide>
  );
  const part = { asked, open, answer, decline, card };
  const isOurs = asked.by != null;
  return (
    <>
      {whole.includes("\n") &&
        (looksLikeMarkdown(whole) ? <Markdown text={whole} /> : <Raw text={whole} />)}
      {children}
      {isOurs ? (
        <Buttons {...part} />
      ) : asked.form == null ? (
        <Choices {...part} />
      ) : (
        <Form {...part} form={asked.form} />
      )}
    </>
  );
}

/** What Airboss asks itself needs one of a few words, each a button. */
function Buttons({ asked, open, answer }: Inner) {
  return (
    <div class="acts">
      {asked.choices.map((label, place) => (
        <Decide
          key={label}
          class={place === 0 ? "btn you" : "btn ghost"}
          disabled={!open}
          onClick={() => answer(label)}
        >
          {visible(label)}
        </Decide>
      ))}
      <span class="small faint">Your answer is saved with your name and the time.</span>
    </div>
  );
}

type Inner = Pick<Part<QuestionAsked>, "asked" | "card"> & {
  open: boolean;
  answer: (text: string) => void;
  decline: preact.ComponentChildren;
};

/** What is chosen where words of one's own are. */
const OTHER = -1;

function Choices({ asked, open, answer, decline, card }: Inner) {
  const id = useId();
  const { choices, allows_words } = asked;
  const [chosen, choose] = useState<number | null>(choices.length === 0 ? OTHER : null);
  const [words, write] = useState("");
  const text = chosen === null ? "" : chosen === OTHER ? words : (choices[chosen] ?? "");
  useCardKeys(card, open, (key) => {
    const place = Number(key) - 1;
    if (key === "enter" && text.trim() !== "") {
      answer(text);
      return true;
    }
    if (!/^[1-9]$/.test(key) || place > choices.length) return false;
    if (place < choices.length) choose(place);
    else if (allows_words) choose(OTHER);
    return true;
  });
  const submit = (event: Event) => {
    event.preventDefault();
    if (open && text.trim() !== "") answer(text);
  };
  return (
    <form class="stack" onSubmit={submit}>
      {choices.length > 0 && (
        <ol class="choices">
          {choices.map((label, place) => (
            <li key={label}>
              <Choice
                name={id}
                place={place}
                on={chosen === place}
                open={open}
                onChoose={() => choose(place)}
              >
                {visible(label)}
              </Choice>
            </li>
          ))}
          {allows_words && (
            <li>
              <Choice
                name={id}
                place={choices.length}
                on={chosen === OTHER}
                open={open}
                onChoose={() => choose(OTHER)}
              >
                Something else<small>Enter your own answer.</small>
              </Choice>
            </li>
          )}
        </ol>
      )}
      {allows_words && chosen === OTHER && (
        <textarea
          class="area"
          rows={3}
          aria-label="Your answer"
          value={words}
          disabled={!open}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && event.ctrlKey && submit(event)}
        />
      )}
      <div class="acts">
        <button
          type="submit"
          class="btn you"
          disabled={!open || text.trim() === ""}
          {...barred("decide")}
        >
          Answer
        </button>
        <span class="small faint">Your answer is saved with your name and the time.</span>
        <span class="grow" />
        {decline}
      </div>
    </form>
  );
}

type ChoiceProps = {
  name: string;
  place: number;
  on: boolean;
  open: boolean;
  onChoose: () => void;
  children: preact.ComponentChildren;
};

function Choice({ name, place, on, open, onChoose, children }: ChoiceProps) {
  return (
    <label class={on ? "on" : undefined}>
      <input type="radio" name={name} checked={on} disabled={!open} onChange={onChoose} />
      {place < 9 && <kbd aria-hidden="true">{place + 1}</kbd>}
      <span>{children}</span>
    </label>
  );
}

function Form({ form, open, answer, decline }: Inner & { form: string }) {
  const [fields] = useState(() => fieldsOf(form));
  const [filled, fill] = useState<Filled>(() => startOf(fields ?? []));
  const [json, write] = useState("{}");
  const [wrong, complain] = useState<Readonly<Record<string, string>>>({});
  const id = useId();
  const submit = (event: Event) => {
    event.preventDefault();
    if (!open) return;
    const given = fields === null ? { json } : answerOf(fields, filled);
    complain("wrong" in given ? given.wrong : {});
    if ("json" in given) answer(given.json);
  };
  return (
    <form class="stack-5" onSubmit={submit} noValidate>
      {fields === null ? (
        <textarea
          class="area mono"
          rows={6}
          aria-label="Your answer, as JSON"
          value={json}
          onInput={(event) => write(event.currentTarget.value)}
        />
      ) : (
        fields.map((field) => (
          <Filling
            key={field.name}
            id={`${id}-${field.name}`}
            field={field}
            value={filled[field.name] ?? ""}
            wrong={wrong[field.name]}
            open={open}
            onFill={(value) => fill({ ...filled, [field.name]: value })}
          />
        ))
      )}
      <div class="acts">
        <button type="submit" class="btn you" disabled={!open} {...barred("decide")}>
          Answer
        </button>
        <span class="grow" />
        {decline}
      </div>
    </form>
  );
}

type FillingProps = {
  id: string;
  field: Field;
  value: string | boolean;
  wrong: string | undefined;
  open: boolean;
  onFill: (value: string | boolean) => void;
};

function Filling({ id, field, value, wrong, open, onFill }: FillingProps) {
  const told = wrong !== undefined || field.hint !== "" ? `${id}-told` : undefined;
  const common = {
    id,
    disabled: !open,
    "aria-invalid": wrong !== undefined,
    "aria-describedby": told,
    required: field.required,
  };
  const written = { ...common, value: String(value) };
  const input = (event: { currentTarget: { value: string } }) => onFill(event.currentTarget.value);
  return (
    <div class="field">
      {field.kind === "tick" ? (
        <label class="check" for={id}>
          <input
            {...common}
            type="checkbox"
            checked={value === true}
            onChange={(event) => onFill(event.currentTarget.checked)}
          />
          {visible(field.label)}
        </label>
      ) : (
        <>
          <label for={id}>
            {visible(field.label)}
            {!field.required && <span class="faint"> (optional)</span>}
          </label>
          {field.kind === "list" && <textarea {...written} class="area" rows={3} onInput={input} />}
          {field.kind === "choice" && (
            <select {...written} class="select" onChange={input}>
              <option value="">(none)</option>
              {field.choices.map((choice) => (
                <option key={choice} value={choice}>
                  {visible(choice)}
                </option>
              ))}
            </select>
          )}
          {(field.kind === "line" || field.kind === "number") && (
            <input
              {...written}
              class="input"
              inputMode={field.kind === "number" ? "decimal" : "text"}
              onInput={input}
            />
          )}
        </>
      )}
      {told !== undefined && (
        <p id={told} class={wrong === undefined ? "hint" : "trouble small"}>
          {wrong ?? visible(field.hint)}
        </p>
      )}
    </div>
  );
}
