// What extensions import from the pinned SDK, which is left as it is; their hooks are guarded.
import { pathToFileURL } from "node:url";
import { joinWith } from "./guard.cjs";

const sdk = await import(pathToFileURL(`${process.env.AIRBOSS_SDK_PATH}/extension.js`).href);

export const {
  Canvas,
  CanvasError,
  WorkflowResumeError,
  createCanvas,
  defineWorkflow,
  isWorkflowRunTerminal,
} = sdk;

export const joinSession = joinWith(sdk);
