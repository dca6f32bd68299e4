import "../app.css";
import "./settings.css";
import { render } from "preact";
import { Frame } from "../parts/frame";
import { SettingsPage } from "./page";

const page = document.getElementById("page");
if (page !== null) {
  render(
    <Frame page="settings" title="Settings">
      <SettingsPage />
    </Frame>,
    page,
  );
}
