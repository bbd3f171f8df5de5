// The page of a checkout: with the built-in provider, it states that no real money is used, and one button pays. Other providers redirect
// the person back to this page.
import { admit, admits } from '#access/gate.ts';
import { findCheckout, payInTestMoney } from '#domain/money/billing/checkout.ts';
import { builtinProvider } from '#domain/money/billing/provider.ts';
import { billing } from '#domain/money/billing/terms.ts';
import { organizationPath } from '#foundation/http/addresses.ts';
import { html } from '#foundation/http/html.ts';
import type { OrganizationRoute } from './application.ts';
import { answerPage, csrfField, seeOther } from './layout.ts';
import { day } from './time.ts';

const words = { open: 'Not paid', complete: 'Paid', expired: 'Expired' } as const;

export const showCheckout: OrganizationRoute['GET'] = async (exchange, visitor, checkoutId) => {
  admit(visitor.caller, 'billing:read');
  const checkout = await findCheckout(visitor.caller, checkoutId);
  const { offer, quantity, credits, amountCents, status, startsNow, createdAt } = checkout;
  const what = offer === 'team' ? `Plan ${checkout.teamPlan}, 30 days` : `${quantity} × credit pack`;
  const isOwn = checkout.provider === builtinProvider.name;
  const price = `${(amountCents / 100).toFixed(2)} USD${isOwn ? ' in test money' : ''}`;
  const mayPay = admits(visitor.caller, 'billing:write');
  const body = html`<h1>Checkout</h1>
    ${isOwn && html`<p class="note">This is test money: no card is charged and nothing is owed.</p>`}
    ${!isOwn && status === 'open' && html`<p class="note">The payment is not confirmed. If you have paid, reload the page in a moment; otherwise start again from billing.</p>`}
    <section class="card">
      <dl class="facts">
        <dt>Offer</dt><dd>${what}</dd>
        <dt>Credits</dt><dd>${credits}</dd>
        <dt>Price</dt><dd>${price}</dd>
        <dt>Start</dt><dd>${startsNow ? 'Immediately. Spent credits are not refunded.' : `After the withdrawal period, on ${day(createdAt + billing.withdrawalMs)}.`}</dd>
        <dt>Withdrawal</dt><dd>Within 14 days of the purchase; unspent credits are refunded.</dd>
        <dt>Status</dt><dd><span class="${status === 'complete' ? 'tag good' : 'tag'}">${words[status]}</span></dd>
      </dl>
      ${
        isOwn &&
        status === 'open' &&
        mayPay &&
        html`<form method="post" action="${exchange.path}">${csrfField(visitor)}
        <button>Pay ${price}</button></form>`
      }
      ${isOwn && status === 'open' && !mayPay && html`<p>Only an owner of the organization can pay.</p>`}
      ${(!isOwn || status !== 'open') && html`<p><a class="button quiet" href="${organizationPath(visitor.organization.slug)}/billing">Go to billing</a></p>`}
    </section>`;
  return answerPage(exchange, 200, { title: 'Checkout', body, visitor });
};

export const payCheckout: OrganizationRoute['POST'] = async (exchange, { caller }, id) => {
  admit(caller, 'billing:write');
  await payInTestMoney(caller, id);
  seeOther(exchange, exchange.path);
};
