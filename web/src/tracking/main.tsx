import "../app.css";
import { render } from "preact";
import { Frame } from "../parts/frame";

const page = document.getElementById("page");
if (page !== null) {
  render(
    <Frame page="jobs" title="Job">
      <div class="page">
        <h1>Job</h1>
      </div>
    </Frame>,
    page,
  );
}
