import "../app.css";
import "./jobs.css";
import { render } from "preact";
import { Frame } from "../parts/frame";
import { JobsPage } from "./page";

const folder = new URLSearchParams(location.search).get("wb");
const page = document.getElementById("page");
if (folder === null || folder === "") location.replace("/index.html");
else if (page !== null) {
  render(
    <Frame page="jobs" title="Jobs" app>
      <JobsPage folder={folder} />
    </Frame>,
    page,
  );
}
