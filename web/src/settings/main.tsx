import "../app.css";
import { render } from "preact";
import { Frame } from "../parts/frame";

const page = document.getElementById("page");
if (page !== null) {
  render(
    <Frame page="settings" title="Settings">
      <div class="page">
        <h1>Settings</h1>
      </div>
    </Frame>,
    page,
  );
}
