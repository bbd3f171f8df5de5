// Billing: balance, purchases and spending of the organization. A person who may only start missions requests credits here.
import { useState } from 'preact/hooks';
import {
  askForCredits,
  billing as billingQuery,
  billingSettings,
  type TrackerTriggerPolicy,
  updateBillingSettings,
} from '../generated/documents.ts';
import { OneOf } from '../kit/choices.tsx';
import { ask, mutate } from '../kit/client.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { may } from '../kit/page.ts';
import { Card, ErrorNote, Loading, StatusMessage } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { Day } from '../kit/words.tsx';
import { Balance, Subscription, type Summary } from './billing-balance.tsx';
import { Offers } from './billing-offers.tsx';
import { Orders } from './billing-orders.tsx';
import { billing, Entries } from './billing-words.tsx';
import { Budgets } from './budgets.tsx';

export function Billing() {
  const [said, say] = useState('');
  const mayRead = may('billing:read');
  return (
    <>
      <Heading title="Billing">
        {mayRead && (
          <CopyAs
            path="/billing/summary"
            graphql="{ billingSummary { plan balance low sources { kind credits expiresAt } } }"
            client="client.billingSummary()"
          />
        )}
      </Heading>
      <StatusMessage words={said} />
      {mayRead ? (
        <Whole say={say} />
      ) : (
        <>
          <Requests summary={null} done={() => say(asked)} />
          <Budgets />
        </>
      )}
    </>
  );
}

const asked = 'Sent. The owners of the organization see your request here.';

function Whole({ say }: { say(words: string): void }) {
  const { data, problem, read } = useReading(billingQuery, {});
  const done = (words: string) => {
    say(words);
    read();
  };
  if (!data) return <Loading problem={problem} retry={read} rows={4} height={140} />;
  const { billingSummary: summary, billingOffers: offers, billingOrders, billingLedger } = data;
  const { plans } = offers.team;
  return (
    <>
      {problem && <ErrorNote problem={problem} retry={read} />}
      <div class="columns">
        <div class="column">
          <Balance summary={summary} plans={plans} />
          <Requests summary={summary} done={() => done(asked)} />
          <Offers summary={summary} offers={offers} />
          <Orders orders={billingOrders.orders} plans={plans} done={done} />
          <Card title="Ledger" aside={<a href={`${billing}/ledger`}>All entries</a>}>
            <Entries entries={billingLedger.entries} />
          </Card>
        </div>
        <div class="column">
          {summary.subscription && <Subscription subscription={summary.subscription} plans={plans} done={done} />}
          <Budgets />
          <Settings summary={summary} done={done} />
        </div>
      </div>
    </>
  );
}

/** The open credit request and, for people who start missions but cannot buy credits, the form that requests credits. */
function Requests({ summary, done }: { summary: Summary | null; done(): void }) {
  const open = summary?.openCreditRequest;
  const canBuy = summary?.canManage ?? false;
  if (canBuy && !open) return null;
  return (
    <Card title={canBuy ? 'Credits requested' : 'Request credits'}>
      {open && (
        <ul class="rows">
          {open.messages.map(({ message, at, name }, i) => (
            <li key={i}>
              <p class="message">{message}</p>
              <div class="muted small">
                {name ?? 'A former member'}, <Day at={at} />
              </div>
            </li>
          ))}
        </ul>
      )}
      {canBuy && <p class="hint">The request is closed when credits are bought or granted.</p>}
      {!canBuy && may('missions:run') && <Ask done={done} />}
    </Card>
  );
}

function Ask({ done }: { done(): void }) {
  const form = useForm({
    name: 'credit request',
    initial: { message: '' },
    async send({ message }, key) {
      await mutate(askForCredits, { message }, key);
      done();
    },
  });
  return (
    <FormFrame form={form} action="Send request">
      <Text form={form} name="message" label="Message to the owners" rows={3} maxLength={2_000} required>
        Say what the credits are for and how many you need.
      </Text>
    </FormFrame>
  );
}

const policies: readonly (readonly [TrackerTriggerPolicy, string])[] = [
  ['anyone', 'Everybody whom a rule allows'],
  ['members', 'Members of the organization'],
  ['off', 'Nobody'],
];

const settingsOf = ({ trackerTriggers }: Pick<Summary, 'trackerTriggers'>) => ({ trackerTriggers });

function Settings({ summary, done }: { summary: Summary; done(words: string): void }) {
  const form = useForm({
    name: 'billing settings',
    initial: settingsOf(summary),
    current: async () => [settingsOf((await ask(billingSettings, {})).billingSummary), null],
    async send({ trackerTriggers }, key) {
      await mutate(updateBillingSettings, { trackerTriggers }, key);
      done('Saved.');
    },
  });
  const [, policy] = policies.find(([one]) => one === summary.trackerTriggers)!;
  return (
    <Card title="Settings">
      {may('billing:write') ? (
        <FormFrame form={form} action="Save settings" labels={{ trackerTriggers: 'Missions from events' }}>
          <OneOf
            form={form}
            name="trackerTriggers"
            label="People whose events at a tracker or source host may start missions"
            options={policies}
          />
        </FormFrame>
      ) : (
        <p>{policy} may start missions through events at a tracker or source host.</p>
      )}
    </Card>
  );
}
