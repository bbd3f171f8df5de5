// Formats credits, money and ledger entries.
import type { BillingLedgerEntryFragment, LedgerEntryKind } from '../generated/documents.ts';
import { pageAt } from '../kit/page.ts';
import { ScrollTable, TableHead } from '../kit/scroll-block.tsx';
import { Day } from '../kit/words.tsx';

export const billing = pageAt('/billing');

/** Formats money, such as `1,250.00 USD`. */
export const usd = (dollars: number): string =>
  `${dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })} USD`;

/** Formats credits, such as `1,234.5`, with at most two decimals. An amount below 0.01 has up to six decimals. */
export function amount(credits: number): string {
  const digits = Math.abs(credits) < 0.01 && credits !== 0 ? 6 : 2;
  return credits.toLocaleString('en-US', { maximumFractionDigits: digits });
}

export const orUnlimited = (count: number | null): string =>
  count === null ? 'unlimited' : count.toLocaleString('en-US');

const signed = (credits: number): string => (credits < 0 ? `−${amount(-credits)}` : `+${amount(credits)}`);

const kinds: Record<LedgerEntryKind, string> = {
  grant: 'Grant',
  purchase: 'Purchase',
  spend: 'Mission',
  refund: 'Refund',
  withdrawal: 'Withdrawal',
  expiry: 'Expiry',
};

const About = ({ entry: { note, orderId, runId } }: { entry: BillingLedgerEntryFragment }) => (
  <div class="muted small">
    {note && `${note} `}
    {orderId ? (
      <a href={`${billing}/orders/${orderId}`}>Receipt</a>
    ) : (
      runId && <a href={pageAt(`/runs/${runId}`)}>Open mission</a>
    )}
  </div>
);

export const Entries = ({ entries }: { entries: readonly BillingLedgerEntryFragment[] }) => (
  <ScrollTable label="Ledger entries">
    <table>
      <TableHead columns={['Date', 'Change', { number: 'Credits' }, { number: 'Balance' }]} />
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.id}>
            <td>
              <Day at={entry.createdAt} />
            </td>
            <td>
              {kinds[entry.kind]}
              <About entry={entry} />
            </td>
            <td class="number">{signed(entry.credits)}</td>
            <td class="number">{amount(entry.balanceAfter)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </ScrollTable>
);
