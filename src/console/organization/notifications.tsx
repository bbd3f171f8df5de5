// Kinds of notices that a person gets by email, for all organizations.
import { useState } from 'preact/hooks';
import { type NoticeMailKind, type NoticeMailsQuery, noticeMails, updateNoticeMail } from '../generated/documents.ts';
import { ask, mutate } from '../kit/client.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { Check, FormFrame } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { Card, Loaded, StatusMessage } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { MissionNotices } from './mission-notices.tsx';

const labels: Record<NoticeMailKind, string> = {
  credits: 'Credits are low or used up',
  cost_cap: 'The daily cost cap is reached',
  budget: 'A budget is used up or nearly used up',
  token_expiring: 'A token of mine expires within a day',
  connector_broken: 'The credentials of a connector are rejected',
  schedule_failing: 'A recurring mission keeps failing',
  run_waiting: 'A mission waits for a runtime',
  audit_stream: 'The audit log does not arrive at its destination',
  person_needed: 'Another person’s mission waits for a decision',
  webhook_disabled: 'A webhook is disabled because its receiver accepts no events',
  sign_in_domain: 'The TXT record of a sign-in domain is missing',
  sign_in_certificate: 'The certificate of a SAML provider expires within seven days',
  sign_in_metadata: 'The metadata of a SAML provider cannot be used',
  directory_token: 'The last directory token expires within seven days',
};

export function Notifications() {
  const { data, problem, read } = useReading(noticeMails, {});
  return (
    <>
      <Heading title="Notifications">
        <CopyAs graphql="{ noticeMails { kind enabled } }" isPersonal />
      </Heading>
      <p class="muted about">Each notice is sent once. Your choice applies to all of your organizations.</p>
      <Loaded value={data} problem={problem} retry={read} rows={6} height={44}>
        {(data) => (
          <div class="stack">
            <MissionNotices />
            <Choices choices={data.noticeMails} />
          </div>
        )}
      </Loaded>
    </>
  );
}

type Choices = NoticeMailsQuery['noticeMails'];

const valuesOf = (choices: Choices) =>
  Object.fromEntries(choices.map(({ kind, enabled }) => [kind, enabled])) as Record<NoticeMailKind, boolean>;

function Choices({ choices }: { choices: Choices }) {
  const [said, say] = useState('');
  const form = useForm({
    name: 'notifications',
    initial: valuesOf(choices),
    async current() {
      say('');
      return [valuesOf((await ask(noticeMails, {})).noticeMails), null];
    },
    async send(values, key) {
      // Each kind is a separate mutation; an unchanged value has no effect.
      for (const { kind } of choices) {
        await mutate(updateNoticeMail, { input: { kind, enabled: values[kind] } }, `${key} ${kind}`);
      }
      say('Saved.');
    },
  });
  return (
    <div>
      <StatusMessage words={said} />
      <Card title="Email me when">
        <p class="muted">
          Notices that need action go to owners and admins of an organization, and to the owner of a token.
        </p>
        <FormFrame form={form} action="Save" labels={labels}>
          {choices.map(({ kind }) => (
            <Check key={kind} form={form} name={kind} label={labels[kind]} />
          ))}
        </FormFrame>
      </Card>
    </div>
  );
}
