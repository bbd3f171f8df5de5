// The ledger for people: each change of the credits, newest first.
import { billing, Entries } from './billing-words.tsx';
import { CopyAs } from './copy-as.tsx';
import { billingLedger } from './documents.ts';
import { Heading } from './heading.tsx';
import { Card, ListView, Skeleton } from './pieces.tsx';
import { useList } from './reading.ts';

export function Ledger() {
  const list = useList(
    billingLedger,
    { limit: 50 },
    ({ billingLedger: { entries, nextCursor } }) => ({ data: entries, nextCursor }),
    ({ id }) => id,
  );
  return (
    <>
      <Heading title="Ledger" above={[[billing, 'Billing']]}>
        <CopyAs
          path="/billing/ledger"
          graphql="{ billingLedger { entries { kind credits balanceAfter createdAt } nextCursor } }"
          client="client.billingLedger()"
        />
      </Heading>
      <Card title="What changed the credits of the organization">
        <ListView list={list} skeleton={<Skeleton rows={6} />} empty={<p>Nothing has changed the credits yet.</p>}>
          {(entries) => <Entries entries={entries} />}
        </ListView>
      </Card>
    </>
  );
}
