// The catalog of agents: roles, harnesses with their models, the built-in agents and sandbox template, instance types
// (docs/contract.md#agents).
import { type ModelProvider, type ModelVendor, vendorsOf } from '../integrations/model.ts';
import { namedModel } from '../integrations/operations.ts';
import { builtinSandboxTemplate } from '../sandbox-templates/builtin.ts';
import type { AgentRole, HarnessId } from './model.ts';

export { builtinSandboxTemplate };

/** The vendors of language models. Each connector of the kind `llm` has one of them. */
export const modelVendors = vendorsOf('llm');
export type { ModelProvider, ModelVendor };

export interface Role {
  key: AgentRole;
  name: string;
  /** The display name of the role. */
  roleLabel: string;
  blurb: string;
  /** Whether agents of the role are read-only: their harness cannot write, and their work is neither checkpointed nor pushed. */
  isReadOnly: boolean;
}

export const roles: readonly Role[] = [
  {
    key: 'planner',
    name: 'Planner',
    roleLabel: 'Planning',
    blurb: 'Reads the issue and the code, and writes the plan that the other agents follow.',
    isReadOnly: false,
  },
  {
    key: 'builder',
    name: 'Builder',
    roleLabel: 'Building',
    blurb: 'Writes the change and commits it; the platform opens the pull request.',
    isReadOnly: false,
  },
  {
    key: 'reviewer',
    name: 'Reviewer',
    roleLabel: 'Review',
    blurb: 'Reviews the change as a colleague would, and approves it or requests changes.',
    isReadOnly: false,
  },
  {
    key: 'qa',
    name: 'QA',
    roleLabel: 'Quality assurance',
    blurb:
      'Tests the change in the checkout of the mission and reports its findings, with screenshots and reports as artifacts.',
    isReadOnly: false,
  },
  {
    key: 'researcher',
    name: 'Researcher',
    roleLabel: 'Research',
    blurb: 'Answers a question about the code or from public sources. Its files are read-only.',
    isReadOnly: true,
  },
];

/** Whether agents of the role are read-only. */
export const isReadOnly = (role: AgentRole): boolean => roles.some(({ key, isReadOnly }) => key === role && isReadOnly);

export interface CatalogModel {
  id: string;
  label: string;
}

const models: Readonly<Record<ModelVendor, readonly CatalogModel[]>> = {
  anthropic: [
    { id: 'claude-opus-4-5', label: 'Claude Opus 4.5' },
    { id: 'claude-sonnet-4-5', label: 'Claude Sonnet 4.5' },
    { id: 'claude-haiku-4-5', label: 'Claude Haiku 4.5' },
    { id: 'claude-opus-5', label: 'Claude Opus 5' },
    { id: 'claude-sonnet-5', label: 'Claude Sonnet 5' },
  ],
  openai: [
    { id: 'gpt-5.5', label: 'GPT-5.5' },
    { id: 'gpt-5.4', label: 'GPT-5.4' },
    { id: 'gpt-5.4-mini', label: 'GPT-5.4 mini' },
    { id: 'gpt-5.3-codex', label: 'GPT-5.3 Codex' },
    { id: 'gpt-5.2', label: 'GPT-5.2' },
    { id: 'gpt-5.1', label: 'GPT-5.1' },
    { id: 'gpt-5-mini', label: 'GPT-5 mini' },
    { id: 'gpt-5.1-codex', label: 'GPT-5.1 Codex' },
  ],
};

/** The models available to the orchestrator. The Codex models of OpenAI are left out, because they do not support Chat Completions. */
export const modelsByVendor: typeof models = {
  ...models,
  openai: models.openai.filter(({ id }) => !id.endsWith('-codex')),
};

/** The vendor that offers a model of the catalog; undefined for any other model. */
export const vendorOfModel = (model: string): ModelVendor | undefined =>
  modelVendors.find((vendor) => models[vendor].some(({ id }) => id === model));

export interface Harness {
  id: HarnessId;
  label: string;
  /** Whether runtimes can execute the harness. Missions are assigned only to agents with such a harness. */
  executable: boolean;
  /** The models that the tested release of the harness supports (src/runner/harness/versions.ts) and whose list price is known. */
  models: readonly CatalogModel[];
}

export const harnesses: readonly Harness[] = [
  { id: 'claude-code', label: 'Claude Code', executable: true, models: models.anthropic },
  // The models listed by `codex debug models`; for other models, Codex has neither instructions nor editing tools.
  {
    id: 'codex',
    label: 'Codex',
    executable: true,
    models: models.openai.filter(({ id }) => id === 'gpt-5.5'),
  },
  {
    id: 'opencode',
    label: 'OpenCode',
    executable: true,
    models: [...models.anthropic, ...models.openai],
  },
  // A program that speaks the Agent Client Protocol, configured by the operator of a runtime.
  { id: 'acp', label: 'ACP harness', executable: true, models: [...models.anthropic, ...models.openai] },
  // Runs a command without a model: for tests and demonstrations.
  { id: 'shell', label: 'Script', executable: true, models: [{ id: 'none', label: 'No model' }] },
];

/** The harnesses that can use any model that a connector lists: they speak the APIs of Anthropic and of OpenAI, and accept any model id. */
export const anyModelHarnesses: readonly HarnessId[] = ['opencode', 'acp'];

/**
 * The provider of the agent's model: its vendor or, for a model outside the catalog, any connector that lists the model. Null for the
 * shell, which uses no model.
 */
export const providerNeeded = ({ harness, model }: { harness: HarnessId; model: string }): ModelProvider | null => {
  if (harness === 'shell') return null;
  if (anyModelHarnesses.includes(harness)) return vendorOfModel(model) ?? namedModel(model);
  return harness === 'codex' ? 'openai' : 'anthropic';
};

export interface BuiltinAgent {
  key: string;
  name: string;
  role: AgentRole;
  harness: HarnessId;
  model: string;
  userPrompt: string;
  skillRepos: readonly string[];
  sandboxTemplateKey: string;
}

/** The id of a built-in agent, the same in every organization. */
export const builtinAgentId = ({ key }: Pick<BuiltinAgent, 'key'>): string => `agn_builtin_${key}`;

const builtin = (role: AgentRole, name: string, model: string, userPrompt: string): BuiltinAgent => ({
  key: role,
  name,
  role,
  harness: 'claude-code',
  model,
  userPrompt,
  skillRepos: [],
  sandboxTemplateKey: builtinSandboxTemplate.key,
});

export const builtinAgents: readonly BuiltinAgent[] = [
  builtin(
    'planner',
    'Planner',
    'claude-opus-4-5',
    'Write a plan that somebody else can follow: what changes where, in which order, and how it will be shown to work.',
  ),
  builtin(
    'builder',
    'Builder',
    'claude-sonnet-4-5',
    'Make the smallest change that does the whole job, with its tests, in the manner of the code around it.',
  ),
  builtin(
    'reviewer',
    'Reviewer',
    'claude-opus-4-5',
    'Look for what is wrong, missing or unclear. Say what to do about each point, and nothing about taste.',
  ),
  builtin(
    'qa',
    'QA',
    'claude-sonnet-4-5',
    'Try each acceptance criterion as a user would, and keep proof of what you saw as a file in the folder $ARTIFACTS: a screenshot, a recording or a Playwright trace (NAME.zip). Beside each file NAME, write NAME.criterion.json: {"criterion": "…", "passed": true or false}.',
  ),
  builtin(
    'researcher',
    'Researcher',
    'claude-sonnet-4-5',
    'Answer the question with its sources, say how sure you are, and change nothing.',
  ),
  // The shell agent works only for missions that name it, because the prompts of other missions are written for a model.
  {
    ...builtin('builder', 'Script', 'none', 'The prompt is a POSIX shell script: run it unchanged.'),
    key: 'shell',
    harness: 'shell',
  },
];

/** The built-in agent that runs a prompt as a script, in every organization. */
export const scriptAgentId = builtinAgentId({ key: 'shell' });

/** The harness and model combinations that can execute a built-in agent, the preferred one first. */
export const harnessOptionsOf = ({ harness, model }: Pick<BuiltinAgent, 'harness' | 'model'>) =>
  harness === 'shell'
    ? [{ harness, model }]
    : [
        { harness, model },
        { harness: 'opencode' as const, model },
        { harness: 'opencode' as const, model: 'gpt-5.5' },
        { harness: 'codex' as const, model: 'gpt-5.5' },
      ];

/**
 * The harness and model combinations that can execute a built-in agent with `model` in place of its default model. A model outside the
 * catalog needs a harness that accepts any model.
 */
export const harnessOptionsWith = (agent: Pick<BuiltinAgent, 'harness' | 'model'>, model: string) => {
  const isNamed = vendorOfModel(model) === undefined;
  const runs = (id: HarnessId): boolean =>
    isNamed
      ? anyModelHarnesses.includes(id)
      : harnesses.some((one) => one.id === id && one.models.some((known) => known.id === model));
  return [...new Set(harnessOptionsOf(agent).map(({ harness }) => harness))]
    .filter(runs)
    .map((harness) => ({ harness, model }));
};
