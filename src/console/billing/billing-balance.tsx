// The organization's credits and their sources, its plan, and its subscription.

import {
  type BillingPlan,
  type BillingQuery,
  type BillingTeamPlanFragment,
  type CreditSourceKind,
  updateSubscription,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { may } from '../kit/page.ts';
import { Action, Card } from '../kit/pieces.tsx';
import { ScrollTable, TableHead } from '../kit/scroll-block.tsx';
import { Day, plural } from '../kit/words.tsx';
import { amount, orUnlimited, usd } from './billing-words.tsx';

export type Summary = BillingQuery['billingSummary'];
export type Plan = BillingTeamPlanFragment;

const planNames: Record<BillingPlan, string> = {
  free: 'Free',
  pack: 'Credit packs',
  team: 'Team',
  enterprise: 'Enterprise',
};
const sourceNames: Record<CreditSourceKind, string> = {
  trial: 'Trial',
  pack: 'Credit pack',
  subscription: 'Team plan',
  grant: 'Grant',
};

export const nameOf = (plan: string, plans: readonly Plan[]): string =>
  plans.find((one) => one.plan === plan)?.name ?? plan;

export function Balance({ summary, plans }: { summary: Summary; plans: readonly Plan[] }) {
  const { balance, low, plan, subscription, canStartMission, advice, usage, projects, trial, sources } = summary;
  const name = subscription ? nameOf(subscription.plan, plans) : planNames[plan];
  return (
    <Card title="Balance" aside={<span class="tag">Plan: {name}</span>}>
      <p class="figure">
        <strong>{balance.toLocaleString('en-US')}</strong> credits {low && <span class="tag bad">Low</span>}
      </p>
      {!canStartMission && (
        <p class="note error">
          No mission can start: there are no credits, or the plan’s limit on open missions is reached.
        </p>
      )}
      {advice && <p class="note">{advice.reason}</p>}
      <dl class="facts">
        <dt>
          Spent since <Day at={usage.periodStart} />
        </dt>
        <dd>
          {amount(usage.creditsSpent)} credits by {plural(usage.missions, 'mission')}
        </dd>
        {trial.granted > 0 && (
          <>
            <dt>Trial</dt>
            <dd>
              <Trial trial={trial} />
            </dd>
          </>
        )}
        <dt>Projects</dt>
        <dd>
          {projects.used}
          {projects.limit === null ? ', unlimited' : ` of ${projects.limit.toLocaleString('en-US')}`}
        </dd>
        <dt>Maximum number of open missions</dt>
        <dd>{orUnlimited(summary.sandboxLimit)}</dd>
        <dt>Per mission</dt>
        <dd>At most {summary.missionCeiling.toLocaleString('en-US')} credits</dd>
      </dl>
      {sources.length > 0 && <Sources sources={sources} />}
    </Card>
  );
}

const Trial = ({ trial: { granted, remaining, endsAt } }: { trial: Summary['trial'] }) =>
  remaining === 0 ? (
    <>{granted} credits, used up or expired</>
  ) : (
    <>
      {amount(remaining)} of {granted} credits left
      {endsAt !== null && (
        <>
          , until <Day at={endsAt} />
        </>
      )}
    </>
  );

const Sources = ({ sources }: { sources: Summary['sources'] }) => (
  <>
    <h3 id="sources">Sources of credits</h3>
    <p class="hint">Credits that expire first are spent first. A credit is one US dollar of mission cost.</p>
    <ScrollTable label="Sources of credits">
      <table aria-labelledby="sources">
        <TableHead columns={['Source', { number: 'Credits' }, 'Can be spent', 'Expires']} />
        <tbody>
          {sources.map(({ kind, credits, startsAt, expiresAt }, i) => (
            <tr key={i}>
              <td>{sourceNames[kind]}</td>
              <td class="number">{amount(credits)}</td>
              <td>
                {startsAt === null ? (
                  'Now'
                ) : (
                  <>
                    From <Day at={startsAt} />
                  </>
                )}
              </td>
              <td>{expiresAt === null ? 'Never' : <Day at={expiresAt} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollTable>
  </>
);

interface SubscriptionProperties {
  subscription: NonNullable<Summary['subscription']>;
  plans: readonly Plan[];
  done(words: string): void;
}

export function Subscription({ subscription, plans, done }: SubscriptionProperties) {
  const { plan: current, nextPlan, status, currentPeriodEnd } = subscription;
  const isEnding = status === 'canceling';
  const change = (input: { plan?: string; cancelAtPeriodEnd?: boolean }) => async (key: string) => {
    await mutate(updateSubscription, { input }, key);
    done('The subscription was changed.');
  };
  return (
    <Card title="Subscription">
      <dl class="facts">
        <dt>Plan</dt>
        <dd>
          {nameOf(current, plans)}, {usd(plans.find(({ plan }) => plan === current)?.monthlyUsd ?? 0)} per month
        </dd>
        <dt>{isEnding ? 'Ends' : 'Renews'}</dt>
        <dd>
          <Day at={currentPeriodEnd} />
          {!isEnding && nextPlan && ` as ${nameOf(nextPlan, plans)}`}
        </dd>
      </dl>
      {may('billing:write') && (
        <div class="actions">
          {isEnding ? (
            <Action label="Resume subscription" class="slim" act={change({ cancelAtPeriodEnd: false })} />
          ) : (
            <>
              {plans
                .filter(({ plan }) => plan !== (nextPlan ?? current))
                .map(({ plan, name, monthlyUsd }) => (
                  <Action
                    key={plan}
                    label={
                      plan === current ? `Keep ${name}` : `Change to ${name} (${usd(monthlyUsd)}) from the next period`
                    }
                    act={change({ plan })}
                  />
                ))}
              <Action
                label="Cancel subscription"
                class="danger slim"
                question="The subscription ends when its period ends. Until then you can resume it."
                act={change({ cancelAtPeriodEnd: true })}
              />
            </>
          )}
        </div>
      )}
    </Card>
  );
}
