/** The first page: a session where the address names one, else Start. */

import "./app.css";

if (new URLSearchParams(location.search).has("session")) void import("./session/main");
else void import("./start/main");
