// Settings of the organization: its name, the daily cost cap of its missions, whether plans wait for approval, and who chooses agents.

import {
  type OrganizationSettingsQuery,
  organizationSettings,
  updateOrchestrator,
  updateOrganization,
} from '../generated/documents.ts';
import { ask, mutate } from '../kit/client.ts';
import { Check, FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { may, org as orgId, pageAt } from '../kit/page.ts';
import { Card, Loaded } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { dollars } from '../kit/words.tsx';
import { AgentChoiceCard } from './orchestrator.tsx';
import { RecordingsCard } from './recordings.tsx';
import { RetentionCard } from './retention.tsx';

type Read = OrganizationSettingsQuery;

const readSettings = () => ask(organizationSettings, { orgId });

export function Settings() {
  const { data, problem, read } = useReading(organizationSettings, { orgId });
  return (
    <>
      <Heading title="Settings" />
      <Loaded value={data} problem={problem} retry={read} rows={4} height={96}>
        {(data) => (
          <div class="stack">
            <Name
              organization={data.organization}
              mayChange={data.me.capabilities.includes('org.manage')}
              read={read}
            />
            {data.orchestrator && <Missions orchestrator={data.orchestrator} read={read} />}
            {data.orchestrator && (
              <AgentChoiceCard
                orchestrator={data.orchestrator}
                readNow={async () => (await readSettings()).orchestrator}
                read={read}
              />
            )}
            <RecordingsCard />
            <RetentionCard />
            <Card title="Close the organization">
              <p class="muted">Owners can close the organization and export its data.</p>
              <a href={pageAt('/closure')}>Close organization</a>
            </Card>
          </div>
        )}
      </Loaded>
    </>
  );
}

const namesOf = ({ name, slug }: Read['organization']) => ({ name, slug });

interface NameProps {
  organization: Read['organization'];
  mayChange: boolean;
  read(): void;
}

function Name({ organization, mayChange, read }: NameProps) {
  const form = useForm({
    name: 'organization',
    initial: namesOf(organization),
    current: async () => [namesOf((await readSettings()).organization), null],
    async send(input, key) {
      await mutate(updateOrganization, { orgId, input }, key);
      read();
    },
  });
  return (
    <Card title="Organization">
      {mayChange ? (
        <FormFrame form={form} action="Save name" labels={{ name: 'Name', slug: 'Slug' }}>
          <Text form={form} name="name" label="Name" maxLength={120} required />
          <Text form={form} name="slug" label="Slug" required>
            The short name of the organization in commands.
          </Text>
        </FormFrame>
      ) : (
        <p class="break">{organization.name}</p>
      )}
    </Card>
  );
}

const boundsOf = ({ dailyCostCapUsd, planApproval }: Read['orchestrator']) => ({
  dailyCostCapUsd: dailyCostCapUsd === null ? '' : String(dailyCostCapUsd),
  planApproval,
});

function Missions({ orchestrator, read }: { orchestrator: Read['orchestrator']; read(): void }) {
  const { dailySpendUsd, effectiveDailyCostCapUsd, defaultDailyCostCapUsd } = orchestrator;
  const form = useForm({
    name: 'orchestrator',
    initial: boundsOf(orchestrator),
    current: async () => [boundsOf((await readSettings()).orchestrator), null],
    async send({ dailyCostCapUsd, planApproval }, key) {
      const cap = dailyCostCapUsd === '' ? null : Number(dailyCostCapUsd);
      await mutate(updateOrchestrator, { input: { dailyCostCapUsd: cap, planApproval } }, key);
      read();
    },
  });
  const labels = { dailyCostCapUsd: 'Daily cost cap', planApproval: 'Plans wait for approval' };
  return (
    <Card
      title="Missions"
      aside={`${dollars(dailySpendUsd)} of ${dollars(effectiveDailyCostCapUsd)} spent since midnight UTC`}
    >
      {may('orchestrator:write') ? (
        <FormFrame form={form} action="Save" labels={labels}>
          <Text
            form={form}
            name="dailyCostCapUsd"
            label="Daily cost cap in US dollars"
            type="number"
            step="0.01"
          >{`Once the cap is reached, no mission starts until midnight UTC. If the field is empty, the cap is ${dollars(defaultDailyCostCapUsd)}.`}</Text>
          <Check form={form} name="planApproval" label="Plans wait for approval">
            A mission with a plan waits until a person approves the plan.
          </Check>
        </FormFrame>
      ) : (
        <p>Missions can cost at most {dollars(effectiveDailyCostCapUsd)} a day.</p>
      )}
    </Card>
  );
}
