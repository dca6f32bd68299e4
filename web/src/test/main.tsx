import "../app.css";
import { signal } from "@preact/signals";
import { render } from "preact";
import { get } from "../api/client";
import { Frame } from "../parts/frame";
import { inWords, type Said } from "./said";

const said = signal<Said>({ kind: "asking", text: "Asking the server …" });

async function ask(): Promise<void> {
  said.value = inWords(await get("/api/test"));
}

function Page() {
  return (
    <Frame>
      <div class="start">
        <h1>Test</h1>
        <p role="status" class={`said ${said.value.kind}`}>
          {said.value.text}
        </p>
        {said.value.kind === "signed-out" && <a href="/index.html">How to sign in</a>}
        {said.value.kind === "trouble" && (
          <button type="button" class="btn" onClick={() => void ask()}>
            Try again
          </button>
        )}
      </div>
    </Frame>
  );
}

const page = document.getElementById("page");
if (page !== null) render(<Page />, page);
void ask();
