import "../app.css";
import { signal } from "@preact/signals";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { get } from "../api/client";
import { Frame } from "../parts/frame";
import { inWords, type Said } from "./said";

const said = signal<Said>({ kind: "asking", text: "Contacting the server…" });

async function ask(): Promise<void> {
  said.value = inWords(await get("/api/test"));
}

function Message() {
  useEffect(() => void ask(), []);
  return (
    <div class="page">
      <h1>Test</h1>
      <p role="status" class={`said ${said.value.kind}`}>
        {said.value.text}
      </p>
      {said.value.kind === "trouble" && (
        <button type="button" class="btn" onClick={() => void ask()}>
          Try again
        </button>
      )}
    </div>
  );
}

const page = document.getElementById("page");
if (page !== null) {
  render(
    <Frame page={null} title="Test">
      <Message />
    </Frame>,
    page,
  );
}
