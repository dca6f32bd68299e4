import "../app.css";
import "../tracking/report.css";
import "./compare.css";
import { render } from "preact";
import { Frame } from "../parts/frame";
import { ComparePage } from "./page";

const page = document.getElementById("page");
const asked = new URLSearchParams(location.search);
if (page !== null) {
  render(
    <Frame page="history" title="Compare two runs" freshness={{ kind: "complete" }}>
      <ComparePage a={asked.get("a") ?? ""} b={asked.get("b") ?? ""} />
    </Frame>,
    page,
  );
}
