import "../app.css";
import "./machines.css";
import { render } from "preact";
import { Frame } from "../parts/frame";
import { MachinesPage } from "./page";

const page = document.getElementById("page");
if (page !== null) {
  render(
    <Frame page="machines" title="Machines">
      <MachinesPage />
    </Frame>,
    page,
  );
}
