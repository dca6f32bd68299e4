import "../app.css";
import "./start.css";
import { effect } from "@preact/signals";
import { render } from "preact";
import { access } from "../api/access";
import { StartPage } from "./start";
import { askNow, EVERY_MS, now, start, watch } from "./watch";

let watching = false;
effect(() => {
  if (access.value !== "in" || watching) return;
  watching = true;
  watch();
});

function Page() {
  return (
    <StartPage
      start={start.value}
      now={now.value}
      everySeconds={EVERY_MS / 1000}
      onTry={() => void askNow()}
    />
  );
}

const page = document.getElementById("page");
if (page !== null) render(<Page />, page);
