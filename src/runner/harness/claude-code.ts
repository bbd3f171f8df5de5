// Claude Code: JSON lines on its standard input and output (`--input-format stream-json`, `--output-format stream-json`).
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { maxEventBytes, startProcess } from '../isolation/process.ts';
import { claudeEvents } from './claude-code-events.ts';
import { logLine, parsed } from './fragments.ts';
import { callTimeoutMs, type Harness, hasShell, type Listener, type Task } from './port.ts';

const allTools = ['Read', 'Edit', 'Write', 'Bash', 'Glob', 'Grep', 'TodoWrite'];
const writing = ['Edit', 'Write'];

export function claudeCode(task: Task, on: Listener): Harness {
  const events = claudeEvents(task.model, on);
  const process = startProcess(task, {
    program: task.program,
    args: argumentsFor(task),
    env: environmentFor(task),
    hasInput: true,
    maxLineBytes: maxEventBytes,
    out: (line) => {
      const event = parsed(line);
      return event ? events.take(event) : on({ log: logLine(line) });
    },
    err: (line) => on({ log: logLine(line) }),
  });
  const { pid, ended, isRunning, end } = process;
  const write = (message: object) => process.write(JSON.stringify(message));
  const send = async (text: string): Promise<'steered' | 'begun'> => {
    write({ type: 'user', message: { role: 'user', content: [{ type: 'text', text }] } });
    return events.sent();
  };
  const interrupt = async () => {
    write({ type: 'control_request', request_id: randomUUID(), request: { subtype: 'interrupt' } });
  };
  const ready = send(task.prompt).then(() => {});
  process.silent.then(
    (why) => events.gone(process.errors() || why),
    () => {},
  );
  return { pid, ready, ended, isRunning, end, send, interrupt };
}

function argumentsFor(task: Task): string[] {
  const { model, effort, instructions, schema, mcp, resume, readOnly } = task;
  const denied = [...(readOnly ? writing : []), ...(hasShell(task) ? [] : ['Bash'])];
  const tools = allTools.filter((tool) => !denied.includes(tool));
  const args = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
  // Partial messages report the tokens of each call; whole messages repeat the tokens known when the call began.
  args.push('--replay-user-messages', '--include-partial-messages', '--model', model);
  // Unlisted tools are denied without a question; `result.permission_denials` lists them.
  args.push('--permission-mode', 'dontAsk', '--setting-sources', 'project', '--strict-mcp-config');
  args.push(
    '--tools',
    tools.join(','),
    '--allowedTools',
    [...tools, ...Object.keys(mcp).map((server) => `mcp__${server}`)].join(','),
  );
  const headers = { Authorization: `Bearer \${GATEWAY_KEY}` };
  const servers = Object.entries(mcp).map(([server, url]) => [server, { type: 'http', url, headers }]);
  args.push('--mcp-config', JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
  if (effort) args.push('--effort', effort);
  if (instructions) args.push('--append-system-prompt', instructions);
  if (schema) args.push('--json-schema', JSON.stringify(schema));
  if (resume) args.push('--resume', resume);
  return args;
}

function environmentFor({ home, gateway }: Task): Record<string, string> {
  return {
    HOME: home,
    TMPDIR: path.join(home, 'tmp'),
    CLAUDE_CONFIG_DIR: path.join(home, '.claude'),
    ANTHROPIC_BASE_URL: `${gateway.url}/anthropic`,
    ANTHROPIC_API_KEY: gateway.key,
    GATEWAY_KEY: gateway.key,
    // Without these variables the program connects to hosts of its vendor.
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_MAX_RETRIES: '3',
    API_TIMEOUT_MS: String(callTimeoutMs),
    // No idle timeout: a call that waits for a person's answer sends nothing, and the gateway ends a call whose vendor is silent.
    API_FORCE_IDLE_TIMEOUT: '0',
    CLAUDE_STREAM_IDLE_TIMEOUT_MS: '1800000',
    MCP_TOOL_TIMEOUT: String(callTimeoutMs),
    // The platform's tools are available at once instead of through a search. The agent writes all its tasks as one list, not with a call
    // for each task.
    ENABLE_TOOL_SEARCH: 'false',
    CLAUDE_CODE_ENABLE_TASKS: '0',
  };
}
