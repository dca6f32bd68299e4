/** CodeMirror, as the page uses it. In a shadow root: there it adopts its style sheets, where in a
    page it would add style elements, which the content security policy refuses. */

import {
  acceptCompletion,
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { type Diagnostic, forEachDiagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import {
  Compartment,
  EditorState,
  type Extension,
  Prec,
  RangeSet,
  StateField,
} from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  GutterMarker,
  gutterLineClass,
  highlightActiveLine,
  highlightActiveLineGutter,
  hoverTooltip,
  keymap,
  lineNumbers,
  MatchDecorator,
  placeholder,
  type Tooltip,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";
import { type Path, valueAt } from "./fields";
import { look } from "./look";
import { offersAt, type Suggestion } from "./offers";
import { outlineOf, placeAt } from "./outline";
import type { Change, Problem } from "./problems";
import { aboutAt, opensBlock, type Schema } from "./schema";

export type Language = "yaml" | "json" | "python";

/** What is known of entries beside the text; it may come later than the editor. */
export type Known = { schema: Schema | null; models: readonly string[] };

type Options = {
  host: HTMLElement;
  text: string;
  language: Language;
  label: string;
  isReadOnly: boolean;
  known: () => Known;
  onWrite: (text: string) => void;
};

/** A Python file is only shown. */
const LANGUAGES: Record<Language, Extension> = { yaml: yaml(), json: json(), python: [] };

export class Editor {
  private readonly view: EditorView;
  private readonly writing = new Compartment();
  private quiet = false;

  constructor(private readonly options: Options) {
    const root = options.host.shadowRoot ?? options.host.attachShadow({ mode: "open" });
    this.view = new EditorView({
      parent: root,
      root,
      state: EditorState.create({ doc: options.text, extensions: this.extensions() }),
    });
  }

  private extensions(): Extension {
    const { language, label, isReadOnly, known, onWrite } = this.options;
    return [
      lintGutter({ tooltipFilter: () => [] }),
      lineNumbers(),
      highlightActiveLineGutter(),
      highlightActiveLine(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      search({ top: false }),
      highlightSelectionMatches(),
      LANGUAGES[language],
      indentUnit.of("  "),
      EditorState.tabSize.of(2),
      autocompletion({
        override: [(context) => completed(context, language, known())],
        icons: false,
        interactionDelay: 0,
      }),
      hoverTooltip((view, at) => described(view, at, known())),
      badLines,
      language === "yaml" ? Prec.highest(values) : [],
      look,
      placeholder("Write an entry here, or start from an example."),
      EditorView.contentAttributes.of({
        "aria-label": label,
        tabindex: "0",
        spellcheck: "false",
        autocorrect: "off",
        autocapitalize: "off",
      }),
      this.writing.of(readOnly(isReadOnly)),
      overSelection,
      keymap.of([
        { key: "Tab", run: acceptCompletion },
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...defaultKeymap,
        indentWithTab,
      ]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged && !this.quiet) onWrite(update.state.doc.toString());
      }),
    ];
  }

  get at(): number {
    return this.view.state.selection.main.head;
  }

  /** Another text, which nobody typed here. It can be undone, and the cursor stays where it can. */
  replace(text: string): void {
    const old = this.view.state.doc.toString();
    if (old === text) return;
    let from = 0;
    while (from < old.length && from < text.length && old[from] === text[from]) from += 1;
    let tail = 0;
    const least = Math.min(old.length, text.length) - from;
    while (tail < least && old.at(-1 - tail) === text.at(-1 - tail)) tail += 1;
    this.quiet = true;
    const insert = text.slice(from, text.length - tail);
    this.view.dispatch({ changes: { from, to: old.length - tail, insert } });
    this.quiet = false;
  }

  apply(change: Change): void {
    const { from, to, text } = change;
    this.view.dispatch({
      changes: { from, to, insert: text },
      selection: { anchor: from + text.length },
      scrollIntoView: true,
    });
    this.view.focus();
  }

  show(problems: readonly Problem[]): void {
    const end = this.view.state.doc.length;
    const placed = problems.filter(({ line }) => line !== null);
    const diagnostics = placed.map(
      ({ from, to, what, allowed, repairs }): Diagnostic => ({
        from: Math.min(from, end),
        to: Math.min(to, end),
        severity: "error",
        message: [what, allowed].filter((words) => words !== "").join(" "),
        actions: repairs.map((repair) => ({
          name: repair.title,
          apply: () => this.apply(repair),
        })),
      }),
    );
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
  }

  goTo(at: number): void {
    const anchor = Math.min(at, this.view.state.doc.length);
    this.view.dispatch({
      selection: { anchor },
      effects: EditorView.scrollIntoView(anchor, { y: "center" }),
    });
    this.view.focus();
  }

  goToLine(line: number): void {
    const { doc } = this.view.state;
    this.goTo(doc.line(Math.max(1, Math.min(line, doc.lines))).from);
  }

  lock(isReadOnly: boolean): void {
    this.view.dispatch({ effects: this.writing.reconfigure(readOnly(isReadOnly)) });
  }

  focus(): void {
    this.view.focus();
  }

  destroy(): void {
    this.view.destroy();
  }
}

const readOnly = (is: boolean): Extension =>
  is
    ? [EditorState.readOnly.of(true), EditorView.contentAttributes.of({ "aria-readonly": "true" })]
    : [];

function completed(
  context: CompletionContext,
  language: Language,
  { schema, models }: Known,
): CompletionResult | null {
  if (schema === null) return null;
  const text = context.state.doc.toString();
  const place = placeAt(text, context.pos);
  if (!context.explicit && place.word === "" && !/[:\-{[,] $/.test(text.slice(0, context.pos)))
    return null;
  const fields = outlineOf(text);
  const offered = offersAt(schema, fields, place, models);
  if (offered === null) return null;
  const written = (path: Path) => valueAt(fields, path);
  const before = text[offered.from - 1] === ":" ? " " : "";
  const options = offered.suggestions.map((suggestion): Completion => {
    const { label, kind, detail, about, boost } = suggestion;
    const goesBelow =
      kind === "key" && !place.isFlow && opensBlock(schema, [...place.path, label], written);
    const indent = " ".repeat(place.column + 2);
    return {
      label,
      detail,
      boost,
      apply:
        kind !== "key"
          ? before + quotedIn(language, place.quote, label)
          : language === "json"
            ? `${place.quote === "" ? '"' : ""}${label}": `
            : goesBelow
              ? `${label}:\n${indent}`
              : `${label}: `,
      ...(about === "" ? {} : { info: () => aboutIn(suggestion) }),
    };
  });
  return { from: offered.from, options, validFor: /^[\w$./-]*$/ };
}

/** A text in JSON stands in quotes; the one that was opened already is not opened again. */
function quotedIn(language: Language, quote: string, label: string): string {
  if (language !== "json" || quote !== "") return label;
  return label === "true" || label === "false" ? label : `"${label}"`;
}

function aboutIn({ label, about }: Suggestion): HTMLElement {
  const box = document.createElement("div");
  box.append(named("b", label), named("p", about));
  return box;
}

function named(tag: "b" | "p" | "i", text: string): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

/** What the schema says of the key below the pointer, or of the value behind it. */
function described(view: EditorView, at: number, { schema }: Known): Tooltip | null {
  if (schema === null) return null;
  const fields = outlineOf(view.state.doc.toString());
  const field = fields.find(
    ({ from, to, valueFrom, valueTo }) =>
      (from <= at && at <= to) || (valueFrom <= at && at <= valueTo && valueTo > valueFrom),
  );
  if (field === undefined) return null;
  const about = aboutAt(schema, field.path, (path) => valueAt(fields, path));
  if (about === null || about.about === "") return null;
  return {
    pos: field.from,
    end: field.to,
    above: true,
    create: () => {
      const dom = document.createElement("div");
      dom.className = "about";
      const needed = about.isRequired ? "required" : "";
      const detail = [about.detail, needed].filter((words) => words !== "").join(", ");
      dom.append(named("b", about.name), named("i", detail), named("p", about.about));
      return { dom };
    },
  };
}

/** Where letters replace a selection, Chromium keeps its look by a style attribute of its own, which
    the content security policy refuses. So they are put in here, as CodeMirror itself would. */
const overSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { from, to, empty } = view.state.selection.main;
    const { data, inputType, isComposing } = event;
    if (inputType !== "insertText" || data === null || isComposing || empty) return false;
    if (view.state.readOnly || view.state.selection.ranges.length > 1) return false;
    event.preventDefault();
    const insert = () =>
      view.state.update(view.state.replaceSelection(data), {
        userEvent: "input.type",
        scrollIntoView: true,
      });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handles) => handles(view, from, to, data, insert))) view.dispatch(insert());
    return true;
  },
});

const literals = new MatchDecorator({
  regexp: /(?<=[:[,{-][ ]+|\[)(?:true|false|null|-?\d+(?:\.\d+)?)(?=\s*(?:[,}\]]|#|$))/gm,
  decoration: Decoration.mark({ class: "literal" }),
});

/** The grammar takes numbers, true and false for texts. */
const values = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = literals.createDeco(view);
    }

    update(update: ViewUpdate): void {
      this.decorations = literals.updateDeco(update, this.decorations);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

const BAD = Decoration.line({ class: "bad" });

class BadNumber extends GutterMarker {
  override elementClass = "bad";
}

const BAD_NUMBER = new BadNumber();

type Tinted = { lines: DecorationSet; numbers: RangeSet<GutterMarker> };

/** The lines with an error on them are tinted, with their numbers. */
const badLines = StateField.define<Tinted>({
  create: tinted,
  update: (old, { docChanged, effects, state }) =>
    docChanged || effects.length > 0 ? tinted(state) : old,
  provide: (field) => [
    EditorView.decorations.from(field, ({ lines }) => lines),
    gutterLineClass.from(field, ({ numbers }) => numbers),
  ],
});

function tinted(state: EditorState): Tinted {
  const starts = new Set<number>();
  forEachDiagnostic(state, (_diagnostic, from) => starts.add(state.doc.lineAt(from).from));
  const inOrder = [...starts].sort((a, b) => a - b);
  return {
    lines: Decoration.set(inOrder.map((from) => BAD.range(from))),
    numbers: RangeSet.of(inOrder.map((from) => BAD_NUMBER.range(from))),
  };
}
