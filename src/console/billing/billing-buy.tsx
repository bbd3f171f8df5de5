// Shows an offer, asks when its credits may be spent, and continues to the payment page.

import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type BillingOffersQuery, billingOffers, createCheckout } from '../generated/documents.ts';
import { OneOf } from '../kit/choices.tsx';
import { mutate } from '../kit/client.ts';
import { FormFrame } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { now } from '../kit/page.ts';
import { Card, ErrorNote, Skeleton } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { Day, day, plural } from '../kit/words.tsx';
import { billing, usd } from './billing-words.tsx';

interface Chosen {
  name: string;
  credits: number;
  usd: number;
  isMonthly: boolean;
  input: { offer: 'pack' | 'team'; quantity?: number; teamPlan?: string };
}

/** The offer named in the URL; null if there is none. */
function chosenIn(query: Record<string, string>, offers: BillingOffersQuery['billingOffers']): Chosen | null {
  if (query.offer === 'team') {
    const found = offers.team.plans.find(({ plan }) => plan === query.team_plan);
    if (!found) return null;
    const { plan, name, creditsPerMonth, monthlyUsd } = found;
    const input = { offer: 'team' as const, teamPlan: plan };
    return { name: `Plan ${name}`, credits: creditsPerMonth, usd: monthlyUsd, isMonthly: true, input };
  }
  const [pack] = offers.offers;
  const quantity = Number(query.quantity ?? 1);
  if (query.offer !== 'pack' || !pack || !Number.isInteger(quantity) || quantity < 1 || quantity > pack.maxQuantity)
    return null;
  return {
    name: plural(quantity, 'credit pack'),
    credits: pack.credits * quantity,
    usd: (Math.round(pack.priceUsd * 100) * quantity) / 100,
    isMonthly: false,
    input: { offer: 'pack', quantity },
  };
}

const above = [[billing, 'Billing']] as const;

export function Buy() {
  const { query } = useLocation();
  const { data, problem, read } = useReading(billingOffers, {});
  const [url, setUrl] = useState<string | null>(null);
  const chosen = data && chosenIn(query, data.billingOffers);
  if (url) return <Payment url={url} />;
  return (
    <>
      <Heading title={chosen ? `Buy ${chosen.name}` : 'Buy credits'} above={above} />
      {problem && <ErrorNote problem={problem} retry={read} />}
      {!data && !problem && <Skeleton rows={3} height={96} />}
      {data && !chosen && (
        <Card title="Offer not found">
          <p>
            See all offers in <a href={billing}>Billing</a>.
          </p>
        </Card>
      )}
      {data && chosen && (
        <Offer
          chosen={chosen}
          days={data.billingOffers.withdrawalDays}
          isTest={data.billingSummary.purchase.testMoney}
          setUrl={setUrl}
        />
      )}
    </>
  );
}

interface OfferProperties {
  chosen: Chosen;
  days: number;
  isTest: boolean;
  setUrl(url: string): void;
}

function Offer({ chosen, days, isTest, setUrl }: OfferProperties) {
  const form = useForm({
    name: `purchase of ${chosen.name}`,
    initial: { start: '' },
    // Consent has to be given on this page; it is not restored from an earlier visit.
    secrets: ['start'],
    async send({ start }, key) {
      const input = { ...chosen.input, startNowConsent: start === 'now' };
      setUrl((await mutate(createCheckout, { input }, key)).createCheckoutSession.url);
    },
  });
  const monthly = chosen.isMonthly ? ' per month' : '';
  return (
    <Card title="The offer">
      <dl class="facts">
        <dt>Credits</dt>
        <dd>
          {chosen.credits.toLocaleString('en-US')}
          {monthly}
        </dd>
        <dt>Price</dt>
        <dd>
          {usd(chosen.usd)}
          {monthly && `${monthly}, until you cancel`}
        </dd>
        <dt>Withdrawal</dt>
        <dd>You can withdraw within {days} days of the purchase. Unspent credits are then refunded.</dd>
        {isTest && (
          <>
            <dt>Payment</dt>
            <dd>Test money: no card is charged.</dd>
          </>
        )}
      </dl>
      <FormFrame form={form} action="Continue to payment" cancel={billing}>
        <OneOf
          form={form}
          name="start"
          label="When the credits can be spent"
          required
          options={[
            ['now', 'Now. I agree that spent credits are not refunded.'],
            [
              'later',
              <>
                After the withdrawal period, on <Day at={now() + days * day} />.
              </>,
            ],
          ]}
        />
      </FormFrame>
    </Card>
  );
}

/** Opens a payment page of this service at once; for another host, first shows where the person will pay. */
function Payment({ url }: { url: string }) {
  const { origin, host } = new URL(url);
  const isOwn = origin === location.origin;
  useEffect(() => {
    if (isOwn) location.assign(url);
  }, [url]);
  return (
    <>
      <Heading title="Continue to payment" above={above} />
      <Card title={isOwn ? 'Opening the payment page' : `You pay at ${host}`}>
        {!isOwn && <p>You return here after payment. Credits appear once it is confirmed.</p>}
        <div class="actions">
          <a class="button" href={url}>
            Pay at {host}
          </a>
          <a class="button quiet" href={billing}>
            Back to billing
          </a>
        </div>
        <p class="muted small">The payment page expires in a day.</p>
      </Card>
    </>
  );
}
