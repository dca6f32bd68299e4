import "./session.css";
import { render } from "preact";
import { placeIn } from "./file";
import { SessionPage } from "./page";

const asked = new URLSearchParams(location.search);
const seq = Number(new URLSearchParams(location.hash.slice(1)).get("seq") ?? Number.NaN);

const page = document.getElementById("page");
if (page !== null) {
  render(
    <SessionPage
      id={asked.get("session") ?? ""}
      at={Number.isFinite(seq) ? seq : null}
      file={placeIn(location.hash)}
    />,
    page,
  );
}
