// The rest of the pinned SDK, as it is.
import { pathToFileURL } from "node:url";

const sdk = await import(pathToFileURL(`${process.env.AIRBOSS_SDK_PATH}/index.js`).href);

export const {
  AhpHost,
  BuiltInTools,
  Canvas,
  CanvasError,
  CopilotClient,
  CopilotRequestHandler,
  CopilotSession,
  CopilotWebSocketCloseStatus,
  CopilotWebSocketForwarder,
  CopilotWebSocketHandler,
  DisableBypassPermissionsModes,
  RuntimeConnection,
  SYSTEM_MESSAGE_SECTIONS,
  SessionFsSqliteTransactionFailure,
  SessionFsWriteFailure,
  ToolSet,
  WorkflowResumeError,
  approveAll,
  convertMcpCallToolResult,
  createAttributedPermissionResult,
  createCanvas,
  createSessionFsAdapter,
  defineTool,
  defineWorkflow,
  isWorkflowRunTerminal,
} = sdk;
