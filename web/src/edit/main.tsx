import "../app.css";
import "../tracking/tracking.css";
import "./edit.css";
import { render } from "preact";
import { Frame } from "../parts/frame";
import { visible } from "../words";
import { Desk } from "./desk";
import { EditPage, nameIn } from "./page";

const path = new URLSearchParams(location.search).get("path");
const desk = new Desk(path === "" ? null : path);

function Page() {
  const name = nameIn(desk.draft.value?.path ?? path ?? "airboss.yaml");
  return (
    <Frame page="jobs" title={visible(name)} app>
      <EditPage desk={desk} />
    </Frame>
  );
}

const page = document.getElementById("page");
if (page !== null) render(<Page />, page);
