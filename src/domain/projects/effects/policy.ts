// Combines the policies that decide which effects wait: those of a project, of its templates and of a mission's rule. The strictest setting
// applies.
import type { EffectKind, EffectPolicy } from './model.ts';

/** Combines policies that all apply to a mission. If pushes wait, pull requests wait too. */
export function combinePolicies(policies: readonly (EffectPolicy | null | undefined)[]): EffectPolicy {
  const given = policies.filter((one) => one != null);
  const waits = new Set(given.flatMap((one) => one.waits));
  if (waits.has('push')) waits.add('pull_request');
  const ofCalls = given.filter((one) => one.waits.includes('mcp_call'));
  const names = new Set(ofCalls.flatMap((one) => one.allowedTools));
  const allowedTools = [...names].filter((name) => ofCalls.every((one) => allows(one, name)));
  return { waits: [...waits], allowedTools };
}

/** Whether the policy allows the tool, by the tool's name or by its server's name. Server names contain no dots. */
const allows = ({ allowedTools }: EffectPolicy, name: string): boolean =>
  allowedTools.includes(name) || allowedTools.includes(name.split('.', 1)[0]!);

export const waitsFor = ({ waits }: EffectPolicy, kind: EffectKind): boolean => waits.includes(kind);

/** Whether calls of the tool wait for approval. */
export const callWaits = (policy: EffectPolicy, serverName: string, tool: string): boolean =>
  waitsFor(policy, 'mcp_call') && !allows(policy, `${serverName}.${tool}`);
