import "../app.css";
import { render } from "preact";
import { Frame } from "../parts/frame";

const page = document.getElementById("page");
if (page !== null) {
  render(
    <Frame page="start" title="Session">
      <div class="page">
        <h1>Session</h1>
      </div>
    </Frame>,
    page,
  );
}
