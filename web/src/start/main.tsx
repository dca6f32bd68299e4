import "../app.css";
import "./start.css";
import { render } from "preact";
import { Frame } from "../parts/frame";
import { StartPage } from "./start";

const page = document.getElementById("page");
if (page !== null) {
  render(
    <Frame page="start" title="Start">
      <StartPage />
    </Frame>,
    page,
  );
}
