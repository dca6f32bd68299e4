import "../app.css";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { StartPage } from "./start";
import { askNow, EVERY_MS, now, start, watch } from "./watch";

watch(); // takes the code out of the address before anything is drawn

function Page() {
  const { gate } = start.value;
  useEffect(() => {
    document.title = `${gate === "out" ? "Sign in" : "Start"} · Airboss`;
  }, [gate]);
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
