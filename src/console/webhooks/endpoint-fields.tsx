// The fields of a webhook endpoint, for a new one and for changes.
import { type EndpointPartsFragment, webhookProjects } from '../generated/documents.ts';
import { OneOf, Several } from '../kit/choices.tsx';
import { Check, Text } from '../kit/fields.tsx';
import type { Form } from '../kit/form.ts';
import { useReading } from '../kit/reading.ts';

export interface EndpointValues {
  name: string;
  url: string;
  choice: 'all' | 'some';
  /** The chosen event types among those that the form lists. */
  common: string[];
  /** Further types, separated by commas or spaces. */
  types: string;
  projectIds: string[];
  ordered: boolean;
}

export const noValues: EndpointValues = {
  ...{ name: '', url: '', choice: 'all', common: [], types: '', projectIds: [], ordered: false },
};

/** The types that people look for most; a text field takes any. */
const common: readonly (readonly [type: string, words: string])[] = [
  ['run.completed', 'A mission has completed'],
  ['run.failed', 'A mission has failed'],
  ['run.canceled', 'A mission was canceled'],
  ['run.started', 'A mission was started'],
  ['review.submitted', 'A change was reviewed'],
  ['issue.*', 'All events of issues'],
  ['project.*', 'All events of projects'],
  ['agent.*', 'All events of agents'],
  ['member.*', 'All events of members'],
  ['token.*', 'All events of tokens'],
];
const choices = [
  ['all', 'All events'],
  ['some', 'Only some'],
] as const;
const isCommon = (type: string): boolean => common.some(([one]) => one === type);

export const valuesOf = ({ name, url, types, projectIds, ordered }: EndpointPartsFragment): EndpointValues => ({
  ...{ name, url, ordered, projectIds: [...projectIds], choice: types.length === 0 ? 'all' : 'some' },
  common: common.map(([type]) => type).filter((type) => types.includes(type)),
  types: types.filter((type) => !isCommon(type)).join(', '),
});

export const inputOf = ({ choice, common: chosen, types, ...values }: EndpointValues) => ({
  ...values,
  types: choice === 'all' ? [] : [...types.split(/[\s,]+/).filter((type) => type !== ''), ...chosen],
});

export const endpointLabels = {
  ...{ name: 'Name', url: 'URL', choice: 'Events', common: 'Types', types: 'Other types', ordered: 'Order' },
};

export function EndpointFields({ form }: { form: Form<EndpointValues> }) {
  const { data } = useReading(webhookProjects, {});
  const projects = (data?.projects.data ?? []).map(({ id, name }) => [id, name] as const);
  const { choice, common: chosen } = form.values;
  return (
    <>
      <Text form={form} name="name" label="Name" maxLength={120} required />
      <Text form={form} name="url" label="URL" maxLength={2_000} required>
        An https URL of a public host. It receives a signed POST request for each event.
      </Text>
      <OneOf form={form} name="choice" label="Events" options={choices} />
      {choice === 'some' && (
        <>
          <Several
            form={form}
            name="common"
            label="Types"
            options={common.map(([type, words]) => [type, `${words} (${type})`] as const)}
          />
          <Text form={form} name="types" label="Other types" maxLength={5_000} required={chosen.length === 0}>
            Such as secret.updated, or budget.* for all budget events. The audit log shows the types as actions.
          </Text>
        </>
      )}
      {projects.length > 0 && (
        <Several form={form} name="projectIds" label="Projects" options={projects}>
          If you choose none, the endpoint gets the events of the whole organization.
        </Several>
      )}
      <Check form={form} name="ordered" label="Send events in their order">
        Events are sent one at a time. A failed event delays all later ones, for at most three days.
      </Check>
    </>
  );
}
