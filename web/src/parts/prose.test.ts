import { expect, test } from "vitest";
import { address, htmlOf } from "./prose";

const inline = (text: string) => htmlOf(text, 3).replace(/^<p>|<\/p>\n?$/g, "");

test("headings begin below the page's own", () => {
  expect(htmlOf("# One\n\n##### Five", 3)).toBe("<h3>One</h3><h6>Five</h6>");
});

test("only addresses of the web are followed", () => {
  expect(address("https://example.org/a b")).toBe("https://example.org/a%20b");
  expect(address("mailto:someone@example.org")).toBe("mailto:someone@example.org");
  for (const no of [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "/api/v1",
    "#x",
  ]) {
    expect(address(no)).toBeNull();
  }
  expect(inline("[go](javascript:alert(1))")).toBe("go (javascript:alert(1))");
  expect(inline("[go](https://example.org 'title')")).toBe('<a href="https://example.org/">go</a>');
});

test("an image is its words and its address, and never loaded", () => {
  expect(inline("![a plot](https://example.org/p.png)")).toBe(
    '<a href="https://example.org/p.png">a plot (https://example.org/p.png)</a>',
  );
  expect(inline("![](data:image/svg+xml,x)")).toBe("Image (data:image/svg+xml,x)");
});

test("what is written in angle brackets is shown, but for a few bare tags", () => {
  expect(inline("a vector<int> here")).toBe("a vector&#60;int&#62; here");
  expect(inline("press <kbd>A</kbd>")).toBe("press <kbd>A</kbd>");
  expect(inline('<b onclick="x()">bold</b>')).toBe("&#60;b onclick=&#34;x()&#34;&#62;bold</b>");
  expect(htmlOf("<script>alert(1)</script>", 3)).not.toContain("<script");
  expect(htmlOf("<!-- not for people -->", 3)).toContain("not for people");
});

test("what cannot be seen is made visible, in code too", () => {
  expect(htmlOf("```js\nif (\u2066admin\u2069)\n```", 3)).toContain("⟨U+2066⟩admin⟨U+2069⟩");
});

test("a language is a short word, whatever was written there", () => {
  expect(htmlOf('```js" onload="x()\ncode\n```', 3)).toBe(
    '<pre><code class="language-js">code\n</code></pre>',
  );
});

test("boxes to tick are drawn, not made", () => {
  expect(htmlOf("- [x] done\n- [ ] open", 3)).not.toContain("<input");
});
