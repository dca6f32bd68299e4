import "../app.css";
import { render } from "preact";
import { Frame } from "../parts/frame";

const page = document.getElementById("page");
if (page !== null) {
  render(
    <Frame page="history" title="History">
      <div class="page">
        <h1>History</h1>
      </div>
    </Frame>,
    page,
  );
}
