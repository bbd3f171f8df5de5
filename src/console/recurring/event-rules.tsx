// The fields for event rules in the form of a scheduled task or an automation. An event rule says which events start a mission.

import { inboundHooks, templateNames } from '../generated/documents.ts';
import { FieldError } from '../kit/field-error.tsx';
import type { Form } from '../kit/form.ts';
import { may, pageAt } from '../kit/page.ts';
import { useReading } from '../kit/reading.ts';
import { standard } from '../templates/template-choice.tsx';
import { EventPreview } from './event-preview.tsx';
import { blankRule, conditions, type EventRule, kindWords, type RuleText } from './event-values.ts';
import type { RecurringValues } from './recurring-values.ts';

/** Maximum number of rules, as in the API. */
const maxRules = 10;

export function EventRules({ form }: { form: Form<RecurringValues> }) {
  const { eventTriggers: rules, projectId } = form.values;
  const set = (to: EventRule[]) => form.set({ eventTriggers: to });
  return (
    <fieldset class="times rules">
      <legend>Events</legend>
      <p class="hint">
        An event that matches a rule starts a mission. Events arrive at{' '}
        {may('integrations:read') ? <a href={pageAt('/hooks')}>inbound hooks</a> : 'inbound hooks'}.
      </p>
      {rules.map((rule, row) => (
        <fieldset class="rule" key={row}>
          <legend>Rule {row + 1}</legend>
          <Rule
            rule={rule}
            id={`rule-${row}`}
            errorOf={(name) => form.errorOf(`eventTriggers.${row}.${name}`)}
            change={(to) => set(rules.with(row, { ...rule, ...to }))}
          />
          <div class="actions">
            {may('integrations:read') && <EventPreview rule={rule} projectId={projectId} />}
            <button
              type="button"
              class="quiet slim"
              aria-label={`Remove rule ${row + 1}`}
              onClick={() => set(rules.toSpliced(row, 1))}
            >
              Remove
            </button>
          </div>
        </fieldset>
      ))}
      {rules.length < maxRules && (
        <button type="button" class="quiet slim" onClick={() => set([...rules, blankRule])}>
          Add rule
        </button>
      )}
    </fieldset>
  );
}

interface RuleProperties {
  rule: EventRule;
  id: string;
  errorOf(name: string): string | null;
  change(to: Partial<EventRule>): void;
}

interface Words {
  label: string;
  hint?: string;
  rows?: number;
}

type TypedText = Exclude<RuleText, 'hookId' | 'outsiderTemplateId'>;

const words: Readonly<Record<TypedText, Words>> = {
  label: {
    label: 'Label',
    hint: 'The label that is added to the issue or pull request. Leave this field empty for every opened issue or pull request.',
  },
  assignee: { label: 'Assignee', hint: 'The login to which the issue is assigned, instead of a label.' },
  mention: { label: 'Mention', hint: 'The name after the @ in the comment.' },
  branch: { label: 'Branch', hint: 'Leave this field empty for any branch.' },
  filter: { label: 'Filter', hint: 'A JMESPath expression over the body that must be true.' },
  key: {
    label: 'Key',
    hint: 'A JMESPath expression: only the first of several events with the same value starts a mission.',
  },
  template: {
    label: 'Text for the agent',
    hint: 'Write {{ JMESPath }} to insert a value of the body. Leave this field empty to send the issue or the event.',
    rows: 4,
  },
};
const expressions = ['filter', 'key', 'template'] as const;

function Rule(properties: RuleProperties) {
  const { rule, id, change, errorOf } = properties;
  const { kind, from } = rule;
  const isOpen = kind === 'webhook' || expressions.some((name) => rule[name] !== '' || errorOf(name));
  return (
    <>
      <div class="schedule">
        <label>
          Event
          <select
            value={kind}
            onChange={({ currentTarget }) => change({ kind: currentTarget.value as EventRule['kind'] })}
          >
            {Object.entries(kindWords).map(([one, text]) => (
              <option key={one} value={one}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {may('integrations:read') && <HookChoice {...properties} />}
        {kind !== 'webhook' && (
          <label>
            Who may start
            <select
              value={from}
              onChange={({ currentTarget }) => change({ from: currentTarget.value as EventRule['from'] })}
            >
              <option value="writers">People with write access to the repository</option>
              <option value="members">Members with a linked account</option>
              <option value="anyone">Everybody</option>
            </select>
          </label>
        )}
      </div>
      <FieldError id={`error-${id}-hookId`} text={errorOf('hookId')} />
      {may('agents:read') && <OutsiderTemplate {...properties} />}
      {conditions[kind].map((name) => (
        <RuleInput key={name} name={name} {...properties} />
      ))}
      <details open={isOpen}>
        <summary class="small" id={`${id}-more`}>
          Event filter, deduplication key and text for the agent
        </summary>
        {expressions.map((name) => (
          <RuleInput key={name} name={name} {...properties} />
        ))}
      </details>
    </>
  );
}

function HookChoice({ rule: { kind, hookId }, id, errorOf, change }: RuleProperties) {
  const { data } = useReading(inboundHooks, { limit: 50 });
  const options = (data?.inboundHooks.data ?? []).filter(({ vendor }) => kind === 'webhook' || vendor !== 'webhook');
  const error = errorOf('hookId');
  return (
    <label>
      Hook
      <select
        value={hookId}
        aria-invalid={error ? 'true' : undefined}
        aria-describedby={error ? `error-${id}-hookId` : undefined}
        onChange={({ currentTarget }) => change({ hookId: currentTarget.value })}
      >
        <option value="">{kind === 'webhook' ? 'Choose a hook' : 'Any hook of a source host or tracker'}</option>
        {hookId !== '' && !options.some((one) => one.id === hookId) && <option value={hookId}>{hookId}</option>}
        {options.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </select>
    </label>
  );
}

function OutsiderTemplate({ rule: { outsiderTemplateId }, id, errorOf, change }: RuleProperties) {
  const { data } = useReading(templateNames, {});
  const own = (data?.sandboxTemplates.data ?? []).filter(({ isBuiltin }) => !isBuiltin);
  const isKnown = ['', standard, ...own.map((one) => one.id)].includes(outsiderTemplateId);
  const error = errorOf('outsiderTemplateId');
  return (
    <div class="field">
      <label for={`${id}-template-of-outsiders`}>Sandbox template for outsiders</label>
      <p class="hint" id={`hint-${id}-template-of-outsiders`}>
        Outsiders are people without write access to the repository who are not linked members. A mission that they
        trigger gets only the network, variables and secrets of this template.
      </p>
      <select
        id={`${id}-template-of-outsiders`}
        value={outsiderTemplateId}
        aria-invalid={error ? 'true' : undefined}
        aria-describedby={`hint-${id}-template-of-outsiders${error ? ` error-${id}-outsiderTemplateId` : ''}`}
        onChange={({ currentTarget }) => change({ outsiderTemplateId: currentTarget.value })}
      >
        <option value="">Same as for other missions</option>
        <option value={standard}>Standard</option>
        {!isKnown && <option value={outsiderTemplateId}>{outsiderTemplateId}</option>}
        {own.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </select>
      <FieldError id={`error-${id}-outsiderTemplateId`} text={error} />
    </div>
  );
}

function RuleInput({ name, rule, id: rowId, errorOf, change }: RuleProperties & { name: TypedText }) {
  const { label, hint, rows } = words[name];
  const id = `${rowId}-${name}`;
  const error = errorOf(name);
  const attributes = {
    id,
    value: rule[name],
    class: name === 'filter' || name === 'key' ? 'code-input' : name === 'template' ? 'code' : undefined,
    spellcheck: false,
    autocomplete: 'off',
    'aria-invalid': error ? ('true' as const) : undefined,
    'aria-describedby': [hint && `hint-${id}`, error && `error-${id}`].filter(Boolean).join(' ') || undefined,
  };
  const set = (value: string) => change({ [name]: value });
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint && (
        <p class="hint" id={`hint-${id}`}>
          {hint}
        </p>
      )}
      {rows ? (
        <textarea rows={rows} {...attributes} onInput={({ currentTarget: { value } }) => set(value)} />
      ) : (
        <input {...attributes} onInput={({ currentTarget: { value } }) => set(value)} />
      )}
      <FieldError id={`error-${id}`} text={error} />
    </div>
  );
}
