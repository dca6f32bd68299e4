import "../app.css";
import "./tracking.css";
import "./report.css";
import { render } from "preact";
import { Page } from "./page";

const asked = new URLSearchParams(location.search);
const jobName = asked.get("jobName");
const page = document.getElementById("page");

if (jobName === null || jobName === "") location.replace("/index.html");
else if (page !== null) render(<Page jobName={jobName} jobId={asked.get("jobId") || null} />, page);
