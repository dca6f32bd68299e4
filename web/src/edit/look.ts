/** How the editor looks: the page's own tokens, by day and by night. */

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": {
    fontFamily: "var(--font-mono)",
    fontSize: "var(--fs-13)",
    lineHeight: "20px",
    overscrollBehavior: "contain",
  },
  ".cm-content": { padding: "8px 0", caretColor: "var(--text)" },
  ".cm-placeholder": { color: "var(--text-3)" },
  ".cm-line": { padding: "0 16px 0 2px" },
  ".cm-cursor, .cm-dropCursor": { borderLeft: "2px solid var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--text-3)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "38px", padding: "0 12px 0 0" },
  ".cm-gutter-lint": { width: "22px" },
  ".cm-gutter-lint .cm-gutterElement": { padding: "0 0 0 6px" },
  ".cm-lint-marker": { width: "12px", height: "20px", verticalAlign: "top" },
  ".cm-lint-marker-error": { content: "none", position: "relative" },
  ".cm-lint-marker-error::before": {
    content: '"✕"',
    color: "var(--st-failed)",
    fontSize: "12px",
    lineHeight: "20px",
    display: "block",
  },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  "&:not(.cm-focused) .cm-activeLine, &:not(.cm-focused) .cm-activeLineGutter": {
    backgroundColor: "transparent",
  },
  ".cm-gutterElement.bad": { backgroundColor: "var(--st-failed-soft)" },
  ".cm-line.bad, &:not(.cm-focused) .cm-line.bad": { backgroundColor: "var(--st-failed-soft)" },
  ".cm-activeLineGutter": { color: "var(--text)" },
  ".literal, .literal span": { color: "var(--tok-num)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground":
    { backgroundColor: "var(--accent-soft)" },
  "&.cm-focused .cm-matchingBracket, .cm-matchingBracket": {
    backgroundColor: "transparent",
    outline: "1px solid var(--line-ctl)",
  },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "transparent" },
  ".cm-lintRange-error, .cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--st-failed) 1.25px",
    textUnderlineOffset: "4px",
    textDecorationSkipInk: "none",
    padding: "0",
  },
  ".cm-lintPoint-error::after": { borderBottomColor: "var(--st-failed)" },
  ".cm-tooltip": {
    border: "none",
    borderRadius: "var(--r-m)",
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    boxShadow: "var(--e-2)",
    overflow: "clip",
    fontFamily: "var(--font-ui)",
    fontSize: "var(--fs-12)",
    zIndex: "4",
  },
  ".cm-tooltip.cm-tooltip-autocomplete": { overflow: "visible" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    fontFamily: "var(--font-mono)",
    fontSize: "var(--fs-12)",
    maxHeight: "232px",
    minWidth: "168px",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": {
    display: "flex",
    gap: "8px",
    alignItems: "baseline",
    padding: "0 12px",
    lineHeight: "26px",
  },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    background: "var(--accent-soft)",
    color: "var(--text)",
    boxShadow: "inset 3px 0 var(--accent)",
  },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-completionDetail": {
    marginLeft: "auto",
    paddingLeft: "12px",
    fontFamily: "var(--font-ui)",
    fontStyle: "normal",
    color: "var(--text-2)",
  },
  ".cm-tooltip.cm-completionInfo": {
    padding: "8px 12px",
    width: "max-content",
    maxWidth: "280px",
    lineHeight: "17px",
  },
  ".about": { padding: "8px 12px", maxWidth: "420px", lineHeight: "17px", whiteSpace: "pre-wrap" },
  ".about b, .cm-completionInfo b": { fontWeight: "var(--fw-medium)", marginRight: "8px" },
  ".about p, .cm-completionInfo p": { margin: "2px 0 0", color: "var(--text-2)" },
  ".about i, .cm-completionInfo i": { fontStyle: "normal", color: "var(--text-2)" },
  ".cm-tooltip-lint": { padding: "0" },
  ".cm-diagnostic": { padding: "8px 12px", maxWidth: "420px", whiteSpace: "pre-wrap" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--st-failed)" },
  ".cm-diagnosticAction": {
    backgroundColor: "var(--btn-ink)",
    color: "var(--btn-ink-text)",
    borderRadius: "var(--r-s)",
    padding: "3px 8px",
    marginLeft: "8px",
    font: "inherit",
    cursor: "pointer",
  },
  ".cm-panels": {
    backgroundColor: "var(--sunken)",
    color: "var(--text)",
    fontFamily: "var(--font-ui)",
  },
  ".cm-panels.cm-panels-bottom": { borderTop: "var(--border)" },
  ".cm-panel.cm-search": { padding: "6px 12px" },
  ".cm-panel.cm-search label": { fontSize: "var(--fs-12)" },
  ".cm-textfield": {
    fontSize: "var(--fs-13)",
    border: "1px solid var(--line-ctl)",
    borderRadius: "var(--r-s)",
    backgroundColor: "var(--surface)",
    color: "var(--text)",
  },
  ".cm-button": {
    fontSize: "var(--fs-12)",
    border: "1px solid var(--line-ctl)",
    borderRadius: "var(--r-s)",
    background: "var(--surface)",
    color: "var(--text)",
  },
  ".cm-searchMatch": { backgroundColor: "var(--st-you-soft)" },
  ".cm-searchMatch-selected": { outline: "2px solid var(--st-you-solid)" },
  "@media (max-width: 720px)": {
    ".cm-scroller": { fontSize: "var(--fs-14)", lineHeight: "22px" },
    ".cm-lineNumbers .cm-gutterElement": { minWidth: "26px", padding: "0 8px 0 0" },
    ".cm-tooltip.cm-completionInfo": { display: "none" },
    ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { lineHeight: "40px" },
  },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--tok-key)" },
  { tag: [tags.string, tags.content, tags.attributeValue], color: "var(--tok-str)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--tok-num)" },
  { tag: [tags.comment, tags.meta], color: "var(--tok-com)" },
]);

export const look: Extension = [theme, syntaxHighlighting(colours)];
