// Orders of the organization, each with its receipt and, while it is possible, its withdrawal.
import { useState } from 'preact/hooks';
import { type BillingQuery, withdrawOrder } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { may } from '../kit/page.ts';
import { Card, Empty } from '../kit/pieces.tsx';
import { Day } from '../kit/words.tsx';
import { nameOf, type Plan } from './billing-balance.tsx';
import { amount, billing, usd } from './billing-words.tsx';

type Order = BillingQuery['billingOrders']['orders'][number];

interface Properties {
  orders: readonly Order[];
  plans: readonly Plan[];
  done(words: string): void;
}

export const Orders = ({ orders, plans, done }: Properties) => (
  <Card title="Orders">
    {orders.length === 0 && <Empty>No orders yet. Receipts appear here.</Empty>}
    <ul class="rows">
      {orders.map((order) => (
        <OrderRow key={order.id} order={order} plans={plans} done={done} />
      ))}
    </ul>
  </Card>
);

function OrderRow({ order, plans, done }: { order: Order; plans: readonly Plan[]; done(words: string): void }) {
  const { id, number, teamPlan, credits, amountUsd, createdAt, status, refundUsd, withdrawal } = order;
  const [isOpen, setOpen] = useState(false);
  const name = teamPlan ? `Plan ${nameOf(teamPlan, plans)}` : `Credit pack, ${credits.toLocaleString('en-US')} credits`;
  return (
    <li>
      <div class="next-row wrap">
        <div class="grow">
          <a href={`${billing}/orders/${id}`}>Receipt {number}</a>: {name}, {usd(amountUsd)}
          <div class="muted small">
            Paid <Day at={createdAt} />
            {withdrawal && (
              <>
                {' '}
                · Can be withdrawn until <Day at={order.withdrawableUntil!} />
              </>
            )}
          </div>
        </div>
        {status === 'withdrawn' && <span class="tag">Withdrawn, {usd(refundUsd ?? 0)} refunded</span>}
        {withdrawal && may('billing:write') && (
          <button type="button" class="danger slim" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Withdraw<span class="unseen"> from order {number}</span>
          </button>
        )}
      </div>
      {withdrawal && isOpen && <Withdraw order={order} withdrawal={withdrawal} done={done} />}
    </li>
  );
}

interface WithdrawProperties {
  order: Order;
  withdrawal: NonNullable<Order['withdrawal']>;
  done(words: string): void;
}

function Withdraw({ order: { id: orderId, number, offer }, withdrawal, done }: WithdrawProperties) {
  const form = useForm({
    name: `withdrawal from ${orderId}`,
    prefix: `${orderId}-`,
    initial: { reason: '' },
    async send({ reason }, key) {
      await mutate(withdrawOrder, { orderId, ...(reason.trim() && { reason }) }, key);
      done('Withdrawn. The credits were taken back, and the refund is in progress.');
    },
  });
  return (
    <div class="withdrawal">
      <p>
        {amount(withdrawal.credits)} unspent credits are taken back and {usd(withdrawal.refundUsd)} are refunded.
        {offer === 'team' && ' The subscription ends at once.'} This cannot be undone.
      </p>
      <FormFrame form={form} action={`Withdraw from order ${number} now`} isDangerous>
        <Text form={form} name="reason" label="Reason (optional)" maxLength={2_000} />
      </FormFrame>
    </div>
  );
}
