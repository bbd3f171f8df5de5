// Fields for the effects that wait for a person: of a project, a sandbox template or a recurring mission.
import './effects.css';
import type { EffectPolicyInput, OutsideEffectKind } from '../generated/documents.ts';
import { FieldError } from '../kit/field-error.tsx';
import { Text } from '../kit/fields.tsx';
import type { Form } from '../kit/form.ts';

export interface PolicyValues {
  waits: string[];
  /** Names, each on a line. */
  allowedTools: string;
}

export const policyLabels = { waits: 'Wait for approval', allowedTools: 'Tools that may be called at once' };

type Stored = { waits: readonly OutsideEffectKind[]; allowedTools: readonly string[] } | null;

export const policyValues = (policy: Stored): PolicyValues => ({
  waits: [...(policy?.waits ?? [])],
  allowedTools: policy?.allowedTools.join('\n') ?? '',
});

/** Null when nothing waits. */
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
  ['push', 'Pushes', 'With their pull requests.'],
  ['pull_request', 'Pull requests', 'The commits are pushed at once.'],
  ['comment', 'Comments', 'On issues and pull requests of trackers and source hosts.'],
  ['tracker', 'Moves in trackers', 'The close of an issue once its change is merged.'],
  ['mcp_call', 'Calls of MCP tools', 'Of tools that nobody has attested as read-only.'],
];

export function PolicyFields<V extends PolicyValues>({ form }: { form: Form<V> }) {
  const { waits } = form.values;
  const toggle = (kind: string, is: boolean) =>
    form.set({ waits: is ? [...waits, kind] : waits.filter((one) => one !== kind) } as Partial<V>);
  return (
    <fieldset>
      <legend>{policyLabels.waits}</legend>
      <p class="hint">
        Such effects of a mission are shown to people first. Approved ones are carried out once; of rejected ones
        nothing is sent.
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
              {label} <span class="muted small">{isIncluded ? 'Wait with the push.' : hint}</span>
            </span>
          </label>
        );
      })}
      <FieldError text={form.errorOf('waits')} />
      {waits.includes('mcp_call') && (
        <div class="policy-tools">
          <Text form={form} name="allowedTools" label={policyLabels.allowedTools} rows={3} isCode>
            A server, or one of its tools as server.tool, each on a line. Optional.
          </Text>
        </div>
      )}
    </fieldset>
  );
}
