// The receipt of an order, or of a paid period of a subscription, as a page that prints well.
import { admit } from '#access/gate.ts';
import { teamPlan } from '#domain/money/billing/catalog.ts';
import type { BillingOrder } from '#domain/money/billing/model.ts';
import { findOrder } from '#domain/money/billing/operations.ts';
import { providerNamed } from '#domain/money/billing/provider.ts';
import { lotOfOrder } from '#domain/money/credits/operations.ts';
import { findOrganization } from '#domain/organization/organizations/operations.ts';
import { addresses, organizationPath } from '#foundation/http/addresses.ts';
import { html } from '#foundation/http/html.ts';
import type { OrganizationRoute } from './application.ts';
import { answerPage } from './layout.ts';
import { day } from './time.ts';

/** Formats money, such as `1,250.00 USD`. */
const usd = (cents: number): string =>
  `${(cents / 100).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })} USD`;

const orderName = ({ teamPlan: plan, credits }: Pick<BillingOrder, 'teamPlan' | 'credits'>): string =>
  plan ? `Plan ${teamPlan(plan).name}` : `Credit pack, ${credits.toLocaleString('en-US')} credits`;

export const showReceipt: OrganizationRoute['GET'] = async (exchange, visitor, id) => {
  const { caller } = visitor;
  admit(caller, 'billing:read');
  const order = await findOrder(caller, id);
  const [organization, lot] = await Promise.all([
    findOrganization(caller, order.orgId),
    lotOfOrder(order.orgId, order.id),
  ]);
  const { number, createdAt, amountCents, credits, provider, payment } = order;
  const isTest = providerNamed(provider)?.isTest ?? false;
  const title = `Receipt ${number}`;
  const body = html`<p class="above"><a href="${organizationPath(visitor.organization.slug)}/billing">Billing</a></p>
    <h1>${title}</h1>
    ${isTest && html`<p class="note">Paid in test money: nothing was charged.</p>`}
    <section class="card">
      <dl class="facts">
        <dt>Organization</dt><dd>${organization.name} (${organization.slug})</dd>
        <dt>Issued by</dt><dd>${new URL(addresses().issuer).host}</dd>
        <dt>Paid on</dt><dd>${day(createdAt)}</dd>
        <dt>Order</dt><dd><code>${order.id}</code></dd>
        <dt>Payment</dt><dd>${provider} <code>${payment}</code></dd>
        ${lot && html`<dt>Credits valid</dt><dd>${day(lot.startsAt ?? lot.createdAt)}${lot.expiresAt !== null && html` to ${day(lot.expiresAt)}`}</dd>`}
      </dl>
      <div class="scroll"><table>
        <thead><tr><th scope="col">Description</th><th scope="col" class="number">Credits</th><th scope="col" class="number">Amount</th></tr></thead>
        <tbody>
          <tr><td>${orderName(order)}</td><td class="number">${credits.toLocaleString('en-US')}</td><td class="number">${usd(amountCents)}</td></tr>
          ${withdrawn(order)}
        </tbody>
        <tfoot><tr><th scope="row" colspan="2">Total</th><td class="number">${usd(amountCents - (order.refundCents ?? 0))}</td></tr></tfoot>
      </table></div>
      <p class="muted small screen">Print this page, or save it as a PDF, with your browser.</p>
    </section>`;
  return answerPage(exchange, 200, { title, body, visitor });
};

const withdrawn = ({ withdrawnAt, refundCents, refundedAt }: BillingOrder) =>
  withdrawnAt !== null &&
  html`<tr><td>Withdrawn on ${day(withdrawnAt)}, ${refundedAt ? html`refunded on ${day(refundedAt)}` : 'the refund is in progress'}</td>
    <td></td><td class="number">${`−${usd(refundCents!)}`}</td></tr>`;
