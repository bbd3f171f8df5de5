// Credit packs and plans. Each links to a page that describes the offer before a purchase starts.

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { BillingQuery } from '../generated/documents.ts';
import { may } from '../kit/page.ts';
import { Card } from '../kit/pieces.tsx';
import type { Plan, Summary } from './billing-balance.tsx';
import { billing, orUnlimited, usd } from './billing-words.tsx';

export function Offers({ summary, offers }: { summary: Summary; offers: BillingQuery['billingOffers'] }) {
  const { purchase, subscription, canManage } = summary;
  const mayBuy = may('billing:write');
  return (
    <Card title="Buy credits">
      {purchase.testMoney && <p class="note">Payments use test money: no card is charged.</p>}
      {!mayBuy && (
        <p class="muted">{canManage ? 'The organization is closed.' : 'Only an owner of the organization can buy.'}</p>
      )}
      <ul class="rows">
        {offers.offers.map(({ credits, priceUsd, maxQuantity }) => (
          <li key={credits} class="next-row wrap">
            <div class="grow">
              <strong>Credit pack</strong>: {credits} credits for {usd(priceUsd)}
              <div class="muted small">They expire after a year.</div>
            </div>
            {mayBuy && <Packs most={maxQuantity} />}
          </li>
        ))}
        {offers.team.plans.map((plan) => (
          <PlanRow key={plan.plan} plan={plan} canBuy={mayBuy && !subscription} />
        ))}
      </ul>
      <p class="muted small after-rows">{offers.enterprise.blurb}</p>
    </Card>
  );
}

function Packs({ most }: { most: number }) {
  const { route } = useLocation();
  const [quantity, setQuantity] = useState('1');
  const submit = (event: Event) => {
    event.preventDefault();
    route(`${billing}/buy?offer=pack&quantity=${quantity}`);
  };
  return (
    <form class="actions" onSubmit={submit}>
      <label for="quantity" class="inline">
        Packs
      </label>
      <input
        class="few"
        id="quantity"
        type="number"
        min="1"
        max={most}
        required
        value={quantity}
        onInput={({ currentTarget }) => setQuantity(currentTarget.value)}
      />
      <button type="submit" class="slim">
        Buy<span class="unseen"> credit packs</span>
      </button>
    </form>
  );
}

const PlanRow = ({ plan, canBuy }: { plan: Plan; canBuy: boolean }) => {
  const { plan: id, name, creditsPerMonth, monthlyUsd, projects, agentsAtOnce } = plan;
  return (
    <li class="next-row wrap">
      <div class="grow">
        <strong>Plan {name}</strong>: {creditsPerMonth.toLocaleString('en-US')} credits for {usd(monthlyUsd)} per month
        <div class="muted small">
          Projects: {orUnlimited(projects)}. Open missions: {orUnlimited(agentsAtOnce)}. Unused credits expire when the
          month ends.
        </div>
      </div>
      {canBuy && (
        <a class="button slim" href={`${billing}/buy?offer=team&team_plan=${id}`}>
          Subscribe<span class="unseen"> to {name}</span>
        </a>
      )}
    </li>
  );
};
