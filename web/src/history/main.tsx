import "../app.css";
import "./history.css";
import { render } from "preact";
import { Frame } from "../parts/frame";
import { HistoryPage } from "./page";

const page = document.getElementById("page");
if (page !== null) {
  render(
    <Frame page="history" title="History">
      <HistoryPage />
    </Frame>,
    page,
  );
}
