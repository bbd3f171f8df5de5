// The ledger: each change of the credits, newest first.

import { billingLedger } from '../generated/documents.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { Heading } from '../kit/heading.tsx';
import { ListView } from '../kit/list-view.tsx';
import { Card, Skeleton } from '../kit/pieces.tsx';
import { useList } from '../kit/reading.ts';
import { billing, Entries } from './billing-words.tsx';

export function Ledger() {
  const list = useList(billingLedger, { limit: 50 }, ({ billingLedger: { entries, nextCursor } }) => ({
    data: entries,
    nextCursor,
  }));
  return (
    <>
      <Heading title="Ledger" above={[[billing, 'Billing']]}>
        <CopyAs
          path="/billing/ledger"
          graphql="{ billingLedger { entries { kind credits balanceAfter createdAt } nextCursor } }"
          client="client.billingLedger()"
        />
      </Heading>
      <Card title="Credit changes">
        <ListView list={list} skeleton={<Skeleton rows={6} />} empty={<p>No credit changes yet.</p>}>
          {(entries) => <Entries entries={entries} />}
        </ListView>
      </Card>
    </>
  );
}
