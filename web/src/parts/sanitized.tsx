/** The one door for HTML: what markdown says becomes nodes that can neither run nor fetch anything. */

import createPurifier, { type Config } from "dompurify";
import { render } from "preact";
import { visible } from "../words";
import { CopyButton } from "./copy";
import { isOwn } from "./own";

const ALLOWED: Config & { RETURN_DOM_FRAGMENT: true } = {
  ALLOWED_TAGS: [
    ...["a", "b", "blockquote", "br", "code", "del", "details", "em", "h1", "h2", "h3", "h4", "h5"],
    ...["h6", "hr", "i", "ins", "kbd", "li", "mark", "ol", "p", "pre", "s", "small", "span"],
    ...["strong", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr", "u", "ul"],
  ],
  ALLOWED_ATTR: ["href", "class"],
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  RETURN_DOM_FRAGMENT: true,
};

const CLASSES = { CODE: /^language-[\w+#.-]{1,30}$/, SPAN: /^hljs-[a-z_ -]{1,60}$/ };

const purifier = createPurifier(window);

purifier.addHook("uponSanitizeAttribute", (element, attribute) => {
  if (attribute.attrName !== "class") return;
  const allowed = CLASSES[element.tagName as keyof typeof CLASSES];
  attribute.keepAttr = allowed?.test(attribute.attrValue) === true;
});

/** Puts the HTML of markdown into its place. Of what is there already, all that is the same at the
 *  beginning stays: what somebody has selected or scrolled is not touched while more is written. */
export function redraw(place: HTMLElement, html: string): void {
  place.querySelector(":scope .caret")?.remove();
  const nodes = nodesOf(html);
  let old = place.firstChild;
  let now = nodes.firstChild;
  while (old !== null && now !== null && old.isEqualNode(now)) {
    const same = now;
    [old, now] = [old.nextSibling, now.nextSibling];
    same.remove();
    endDrawing(same);
  }
  while (old !== null) {
    const gone = old;
    old = old.nextSibling;
    endDrawing(gone);
    gone.remove();
  }
  place.append(nodes);
}

/** Ends what was drawn into it. */
export function forget(place: HTMLElement): void {
  endDrawing(place);
  place.replaceChildren();
}

function endDrawing(node: Node): void {
  if (!(node instanceof HTMLElement)) return;
  for (const head of node.querySelectorAll<HTMLElement>(".codebox > div")) render(null, head);
  const own = node.matches(".codebox") ? node.firstElementChild : null;
  if (own !== null) render(null, own);
}

/** Nodes that can neither run nor fetch anything. */
function nodesOf(html: string): DocumentFragment {
  const nodes = purifier.sanitize(html, ALLOWED);
  for (const link of nodes.querySelectorAll("a")) {
    if (isOwn(link.href)) showOnly(link);
    else openElsewhere(link);
  }
  for (const table of nodes.querySelectorAll("table")) scrollAlone(table);
  for (const pre of nodes.querySelectorAll("pre")) boxed(pre);
  return nodes;
}

/** Nothing that others wrote leads into this server: what is done here is done on its own pages. */
function showOnly(link: HTMLAnchorElement): void {
  const where = visible(link.href);
  const said = link.textContent ?? "";
  link.replaceWith(...link.childNodes, ...(said === where ? [] : [` (${where})`]));
}

function openElsewhere(link: HTMLAnchorElement): void {
  link.target = "_blank";
  link.rel = "noopener noreferrer";
  link.title = visible(link.href); // the words of a link may say another place
}

function scrollAlone(table: HTMLTableElement): void {
  const around = document.createElement("div");
  around.className = "scroll";
  around.tabIndex = 0;
  around.setAttribute("role", "region");
  around.setAttribute("aria-label", "Table");
  table.replaceWith(around);
  table.className = "tbl";
  around.append(table);
}

/** The code in a box with its language and a button. */
function boxed(pre: HTMLPreElement): void {
  const code = pre.querySelector("code");
  const language = /language-(\S+)/.exec(code?.className ?? "")?.[1] ?? "text";
  const box = document.createElement("div");
  const head = document.createElement("div");
  box.className = "codebox";
  pre.replaceWith(box);
  pre.className = "code";
  pre.tabIndex = 0;
  box.append(head, pre);
  render(
    <>
      <span>{language}</span>
      <span class="grow" />
      <CopyButton text={pre.textContent ?? ""} what="the code" />
    </>,
    head,
  );
}
