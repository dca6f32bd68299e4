import "../app.css";
import "./inbox.css";
import { render } from "preact";
import { Frame } from "../parts/frame";
import { InboxPage } from "./page";

const page = document.getElementById("page");
if (page !== null) {
  render(
    <Frame page="inbox" title="Inbox">
      <InboxPage />
    </Frame>,
    page,
  );
}
