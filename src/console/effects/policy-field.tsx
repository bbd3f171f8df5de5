// Form fields that say which outside effects wait for approval. Projects, sandbox templates and recurring missions have these fields.
import './effects.css';
import type { EffectPolicyInput, OutsideEffectKind } from '../generated/documents.ts';
import { FieldError } from '../kit/field-error.tsx';
import { Text } from '../kit/fields.tsx';
import type { Form } from '../kit/form.ts';

export interface PolicyValues {
  waits: string[];
  /** Names of tools, one per line. */
  allowedTools: string;
}

export const policyLabels = { waits: 'Wait for approval', allowedTools: 'Tools that need no approval' };

type Stored = { waits: readonly OutsideEffectKind[]; allowedTools: readonly string[] } | null;

export const policyValues = (policy: Stored): PolicyValues => ({
  waits: [...(policy?.waits ?? [])],
  allowedTools: policy?.allowedTools.join('\n') ?? '',
});

/** The policy for the API; null when no effect waits for approval. */
export const policyInput = ({ waits, allowedTools }: PolicyValues): EffectPolicyInput | null =>
  waits.length === 0
    ? null
    : {
        waits: waits as OutsideEffectKind[],
        allowedTools: waits.includes('mcp_call')
          ? allowedTools
              .split(/[\n,]+/)
              .map((name) => name.trim())
              .filter(Boolean)
          : [],
      };

const kinds: readonly (readonly [kind: OutsideEffectKind, label: string, hint: string])[] = [
  ['push', 'Pushes', 'Together with their pull requests.'],
  ['pull_request', 'Pull requests', 'Commits are pushed without approval.'],
  ['comment', 'Comments', 'On issues and pull requests of trackers and source hosts.'],
  ['tracker', 'Status changes in trackers', 'Closing an issue once its change is merged.'],
  ['mcp_call', 'Calls of MCP tools', 'Except tools that a person has attested as read-only.'],
];

export function PolicyFields<V extends PolicyValues>({ form }: { form: Form<V> }) {
  const { waits } = form.values;
  const toggle = (kind: string, is: boolean) =>
    form.set({ waits: is ? [...waits, kind] : waits.filter((one) => one !== kind) } as Partial<V>);
  return (
    <fieldset>
      <legend>{policyLabels.waits}</legend>
      <p class="hint">
        These effects of a mission wait until a person approves them. Approved effects are carried out once; rejected
        effects are never sent.
      </p>
      {kinds.map(([kind, label, hint]) => {
        const isIncluded = kind === 'pull_request' && waits.includes('push');
        return (
          <label key={kind} class="check">
            <input
              type="checkbox"
              checked={isIncluded || waits.includes(kind)}
              disabled={isIncluded}
              onChange={({ currentTarget }) => toggle(kind, currentTarget.checked)}
            />
            <span>
              {label} <span class="muted small">{isIncluded ? 'They wait together with the push.' : hint}</span>
            </span>
          </label>
        );
      })}
      <FieldError text={form.errorOf('waits')} />
      {waits.includes('mcp_call') && (
        <div class="policy-tools">
          <Text form={form} name="allowedTools" label={policyLabels.allowedTools} rows={3} isCode>
            One MCP server, or one tool as server.tool, per line. Optional.
          </Text>
        </div>
      )}
    </fieldset>
  );
}
