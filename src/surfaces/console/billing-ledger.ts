// The ledger for people: each change of the credits, by pages.
import { admit } from '#access/gate.ts';
import { creditsOf } from '#domain/credits/amounts.ts';
import type { CreditTransfer } from '#domain/credits/model.ts';
import { listLedger } from '#domain/credits/operations.ts';
import type { Row } from '#foundation/base-model.ts';
import { type Html, html } from '#foundation/html.ts';
import type { Handler } from '#foundation/http.ts';
import { pages } from '#limits.ts';
import { answerPage, answerWithoutOrganization } from './layout.ts';
import { billingAddress, receiptBase } from './receipt.ts';
import { day } from './time.ts';
import { personsPage } from './visitor.ts';

export const ledgerAddress = `${billingAddress}/ledger`;

const kinds: Partial<Record<CreditTransfer['kind'], string>> = {
  grant: 'Grant',
  purchase: 'Purchase',
  spend: 'Mission',
  refund: 'Refund',
  withdrawal: 'Withdrawal',
  expiry: 'Expiry',
};

/** `1,234.5`: at most two decimals, unless the amount is smaller than that. */
export function amountText(amount: number): string {
  const credits = creditsOf(amount);
  const digits = Math.abs(credits) < 0.01 && credits !== 0 ? 6 : 2;
  return credits.toLocaleString('en-US', { maximumFractionDigits: digits });
}

const signed = (amount: number): string => (amount < 0 ? `−${amountText(-amount)}` : `+${amountText(amount)}`);

const about = ({ runId, orderId, note }: Row<CreditTransfer>): Html =>
  html`${note && `${note} `}${
    orderId
      ? html`<a href="${receiptBase}${orderId}">Receipt</a>`
      : runId && html`<a href="/console/runs/${runId}">Open mission</a>`
  }`;

export const entriesTable = (entries: readonly Row<CreditTransfer>[]): Html =>
  html`<div class="scroll" role="region" aria-label="Ledger entries" tabindex="0"><table>
    <thead><tr><th scope="col">Date</th><th scope="col">Change</th><th scope="col" class="number">Credits</th><th scope="col" class="number">Balance</th></tr></thead>
    <tbody>${entries.map(
      (
        entry,
      ) => html`<tr><td>${day(entry.createdAt)}</td><td>${kinds[entry.kind] ?? entry.kind}<div class="muted small">${about(entry)}</div></td>
      <td class="number">${signed(entry.amount)}</td><td class="number">${amountText(entry.balanceAfter)}</td></tr>`,
    )}</tbody></table></div>`;

export const showLedger: Handler = personsPage(async (exchange, visitor) => {
  if (!visitor.caller.orgId) return answerWithoutOrganization(exchange, visitor);
  admit(visitor.caller, 'billing:read');
  const cursor = new URLSearchParams(exchange.search).get('cursor');
  const { data, nextCursor } = await listLedger(visitor.caller, { limit: pages.other.default, cursor });
  const body = html`<p class="above"><a href="${billingAddress}">Billing</a></p>
    <h1>Ledger</h1>
    <p class="lead">What changed the credits of the organization, newest first.</p>
    <section class="card">${entriesTable(data)}
      ${nextCursor && html`<p><a href="${ledgerAddress}?cursor=${encodeURIComponent(nextCursor)}">Older entries</a></p>`}</section>`;
  return answerPage(exchange, 200, { title: 'Ledger', body, visitor });
});
