// The command and environment of an ACP harness, configured by the operator of the runner.
import path from 'node:path';
import { parsed } from './fragments.ts';
import type { HarnessCommand, Task } from './port.ts';

const isText = (value: unknown): value is string => typeof value === 'string';

/** Parses the setting ACP_HARNESS. @returns the program with its command, or the error in the setting */
export function readCommand(setting: string): ({ program: string } & HarnessCommand) | string {
  const value = parsed(setting);
  if (!value || Array.isArray(value))
    return 'ACP_HARNESS must be a JSON object such as {"command":"qwen","args":["--acp"]}';
  const { command: program, args = [], env = {}, authMethod, ...others } = value;
  const [other] = Object.keys(others);
  if (other) return `ACP_HARNESS.${other} is unknown: use command, args, env and authMethod`;
  if (!isText(program) || program === '') return 'ACP_HARNESS.command must be the name or path of a program';
  if (!Array.isArray(args) || !args.every(isText)) return 'ACP_HARNESS.args must be a list of strings';
  if (typeof env !== 'object' || env === null || Array.isArray(env) || !Object.values(env).every(isText))
    return 'ACP_HARNESS.env must be an object of strings';
  if (authMethod !== undefined && !isText(authMethod)) return 'ACP_HARNESS.authMethod must be a string';
  return { program, args, env, ...(authMethod !== undefined && { authMethod }) };
}

/**
 * Variables of the harness: URLs and key of the gateway, under the names that clients of both vendors read, then the variables that the
 * operator has set.
 */
export function environmentOf({ home, gateway, model, command }: Task): Record<string, string> {
  const defaultVariables = {
    HOME: home,
    TMPDIR: path.join(home, 'tmp'),
    ANTHROPIC_BASE_URL: `${gateway.url}/anthropic`,
    ANTHROPIC_API_KEY: gateway.key,
    OPENAI_BASE_URL: `${gateway.url}/openai/v1`,
    OPENAI_API_KEY: gateway.key,
    GATEWAY_KEY: gateway.key,
    AEP_GATEWAY: gateway.url,
    AEP_MODEL: modelId(model),
  };
  const own = Object.entries(command?.env ?? {}).map(([name, value]) => [name, filled(value, defaultVariables)]);
  return { ...defaultVariables, ...Object.fromEntries(own) };
}

/** The text with the values of variables; unknown variables stay unchanged. */
export const filled = (text: string, variables: Record<string, string>): string =>
  text.replace(/\{(\w+)\}/g, (whole, name) => variables[name] ?? whole);

/** The name of a connector's model is prefixed with the API of its server: `messages/…`, `compatible/…`. */
export const modelId = (model: string): string => model.replace(/^(?:messages|compatible)\//, '');
