// What the organization has bought, each order with its receipt, and with its withdrawal while that is possible.
import { admits } from '#access/gate.ts';
import type { OpenLot } from '#domain/credits/ledger.ts';
import type { BillingOrder } from '#domain/plans/model.ts';
import { refundOf } from '#domain/plans/withdrawal.ts';
import type { Row } from '#foundation/base-model.ts';
import { now } from '#foundation/clock.ts';
import { type Html, html } from '#foundation/html.ts';
import { text } from '#limits.ts';
import { amountText } from './billing-ledger.ts';
import { csrfField, type Visitor } from './layout.ts';
import { billingAddress, orderName, receiptBase, usd } from './receipt.ts';
import { day } from './time.ts';

type Order = Row<BillingOrder>;

export const orderList = (visitor: Visitor, orders: readonly Order[], lots: readonly OpenLot[]): Html =>
  html`<section class="card" aria-labelledby="orders"><h2 id="orders">Orders</h2>
    ${
      orders.length === 0
        ? html`<p class="muted">Nothing was bought yet. Each order has a receipt here.</p>`
        : html`<ul class="list">${orders.map((order) => oneOrder(visitor, order, unspentOf(order, lots)))}</ul>`
    }
  </section>`;

/** Millionths of a credit. */
const unspentOf = ({ id }: Order, lots: readonly OpenLot[]): number =>
  lots.find(({ orderId }) => orderId === id)?.available ?? 0;

const oneOrder = (visitor: Visitor, order: Order, unspent: number): Html => {
  const { id, number, amountCents, createdAt, status, refundCents } = order;
  return html`<li class="row">
    <div><a href="${receiptBase}${id}">Receipt ${number}</a>: ${orderName(order)}, ${usd(amountCents)}
      <div class="muted small">Paid ${day(createdAt)}${canWithdraw(order) && html` · Can be withdrawn until ${day(order.withdrawableUntil!)}`}</div></div>
    ${status === 'withdrawn' && html`<span class="tag">Withdrawn, ${usd(refundCents!)} refunded</span>`}
    ${canWithdraw(order) && unspent > 0 && admits(visitor.caller, 'billing:write') && withdrawForm(visitor, order, unspent)}
  </li>`;
};

const canWithdraw = ({ status, withdrawableUntil }: Order): boolean =>
  status === 'paid' && withdrawableUntil !== null && now() <= withdrawableUntil;

/** Two steps, without script: the first opens, the second does it. */
const withdrawForm = (visitor: Visitor, order: Order, unspent: number): Html => {
  const { id, number, offer } = order;
  return html`<details class="confirm">
    <summary><span class="closed">Withdraw <span class="unseen">from order ${number}</span></span><span class="opened">Cancel</span></summary>
    <form method="post" action="${billingAddress}">${csrfField(visitor)}<input type="hidden" name="order_id" value="${id}">
      <p class="small">${amountText(unspent)} unspent credits are taken back and ${usd(refundOf(order, unspent))} are refunded.${offer === 'team' && ' The subscription ends at once.'} This cannot be undone.</p>
      <div class="field"><label for="reason-${id}">Reason (optional)</label><input id="reason-${id}" name="reason" maxlength="${text.withdrawalReason.max}"></div>
      <button class="danger sure" name="do" value="withdraw">Withdraw <span class="unseen">from order ${number}</span> now</button></form></details>`;
};
