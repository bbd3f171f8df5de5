// A session of the Agent Client Protocol: open, load, prompt, cancel.
import { modelId } from './acp-command.ts';
import type { Json } from './fragments.ts';
import type { Task } from './port.ts';

export interface AcpSession {
  id: string;
  /** Whether another process can continue the session. */
  isLasting: boolean;
  prompt(text: string): Promise<string>;
  cancel(): Promise<void>;
}

interface Connection {
  call(method: string, params: object): Promise<Json>;
  notify(method: string, params: object): void;
}

/** Opens a session, or loads the one that the task resumes. @param replaying Called before and after the session repeats its history */
export async function openAcpSession(
  { call, notify }: Connection,
  task: Task,
  { replaying, log }: { replaying(value: boolean): void; log(line: string): void | Promise<void> },
): Promise<AcpSession> {
  const { cwd, resume } = task;
  const { protocolVersion, agentCapabilities: can } = await call('initialize', {
    protocolVersion: 1,
    clientInfo: { name: 'runtime', version: '1' },
    // No file system or terminal of the client is offered: the harness uses its own tools, in the isolation of the
    // mission.
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  });
  if (protocolVersion !== 1)
    throw new Error(`The harness speaks version ${protocolVersion} of the protocol, which is not supported.`);
  if (!can?.mcpCapabilities?.http)
    throw new Error('The harness does not support MCP servers over HTTP, which missions need.');
  const { authMethod: methodId } = task.command ?? {};
  if (methodId) await call('authenticate', { methodId });
  const settings = { cwd, mcpServers: serversOf(task) };
  const canLoad = Boolean(can.loadSession);
  replaying(resume !== null && canLoad);
  const opened = resume
    ? await call(canLoad ? 'session/load' : 'session/resume', { ...settings, sessionId: resume })
    : await call('session/new', settings);
  replaying(false);
  const sessionId = resume ?? opened.sessionId;
  for (const { value, wanted, configId, current } of choicesOf(opened.configOptions ?? [], task)) {
    if (value === undefined) await log(`The harness has no option ${configId} ${wanted}: it uses ${current}.`);
    else if (value !== current) await call('session/set_config_option', { sessionId, configId, value });
  }
  return {
    id: sessionId,
    isLasting: canLoad || Boolean(can.sessionCapabilities?.resume),
    prompt: async (text) => (await call('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })).stopReason,
    cancel: async () => notify('session/cancel', { sessionId }),
  };
}

const serversOf = ({ mcp, gateway }: Task) =>
  Object.entries(mcp).map(([name, url]) => ({
    ...{ type: 'http', name, url },
    headers: [{ name: 'Authorization', value: `Bearer ${gateway.key}` }],
  }));

/**
 * The options to set so that the session uses the model and the effort of the task. Harnesses may put the name of a provider before the
 * name of the model.
 */
function choicesOf(options: readonly Json[], { model, effort }: Task) {
  const ofTask: Record<string, string | null> = { model: modelId(model), thought_level: effort };
  return options.flatMap(({ category, type, id: configId, currentValue: current, options: choices }) => {
    const wanted = ofTask[category ?? ''];
    if (type !== 'select' || !wanted) return [];
    // The harness may offer the options in groups.
    const values: string[] = choices.flatMap((one: Json) => one.options ?? [one]).map((one: Json) => one.value);
    const value = values.find((one) => one === wanted) ?? values.find((one) => one.endsWith(`/${wanted}`));
    return [{ configId, wanted, value, current }];
  });
}
