import "../app.css";
import { render } from "preact";
import { Frame } from "../parts/frame";

const page = document.getElementById("page");
if (page !== null) {
  render(
    <Frame page="inbox" title="Inbox">
      <div class="page">
        <h1>Inbox</h1>
      </div>
    </Frame>,
    page,
  );
}
