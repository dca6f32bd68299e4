// Hides nothing that failed: the pinned SDK keeps a hook's failure to itself, and then the agent
// runtime lets a call go on. Here such a hook says no, and why it failed is said in the log. Hooks
// are told the working folder by the name that the guide for extensions has, too.
const guarded = (hooks, name, hook) => async (input, invocation) => {
  try {
    return await hook.call(hooks, { ...input, cwd: input?.workingDirectory }, invocation);
  } catch (error) {
    console.error(error);
    if (name !== "onPreToolUse") return undefined;
    const reason = `its hook failed: ${error?.message ?? error}`;
    return { permissionDecision: "deny", permissionDecisionReason: reason };
  }
};

const allGuarded = (hooks) =>
  new Proxy(hooks, {
    get: (from, name) => {
      const hook = Reflect.get(from, name);
      return typeof hook === "function" ? guarded(from, name, hook) : hook;
    },
  });

exports.joinWith =
  (sdk) =>
  (config = {}) =>
    sdk.joinSession(config.hooks ? { ...config, hooks: allGuarded(config.hooks) } : config);
