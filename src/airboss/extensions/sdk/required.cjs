// Loaded before an extension: it may `require` the SDK, too. What it imports waits for the pinned
// SDK, and whatever waits cannot be required.
const Module = require("node:module");
const { join } = require("node:path");
const { joinWith } = require("./guard.cjs");

const FILES = {
  "@github/copilot-sdk": "index.js",
  "@github/copilot-sdk/extension": "extension.js",
};
const loaded = {};
const load = Module._load;

const pinned = (name) => {
  let sdk;
  try {
    sdk = load(join(process.env.AIRBOSS_SDK_PATH, FILES[name]), module, false);
  } catch (error) {
    if (error?.code !== "ERR_REQUIRE_ESM") throw error;
    throw new Error(`${name} can be required with Node 20.19 or newer only: import it instead`);
  }
  return FILES[name] === "extension.js" ? { ...sdk, joinSession: joinWith(sdk) } : sdk;
};

Module._load = function (request, ...more) {
  if (!Object.hasOwn(FILES, request)) return load.call(this, request, ...more);
  loaded[request] ??= pinned(request);
  return loaded[request];
};
