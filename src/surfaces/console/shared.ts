// The page of a share link, for people without an account. It shows the state of one run at one moment, read-only, without sign-in and
// without scripts. Every text of the run is masked, names of people are left out, and nothing links to other records.
import { shareBounds } from '#domain/work/replays/bounds.ts';
import { readShared, type SharedRun } from '#domain/work/replays/operations.ts';
import { type Html, html } from '#foundation/http/html.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { createThrottle } from '#foundation/http/throttle.ts';
import { invalid } from '#foundation/problem.ts';
import { answerPage } from './layout.ts';
import { shownModel } from './models.ts';
import { day, instantOf } from './time.ts';

const throttle = createThrottle(
  'shared runs',
  shareBounds.readsPerMinute,
  60,
  'Too many shared missions were opened from this address.',
);

/** Search engines must not list the page. */
const unlisted = { 'x-robots-tag': 'noindex, nofollow, noarchive' } as const;

export async function showShared(exchange: Exchange): Promise<void> {
  await throttle.take(exchange.address);
  const token = exchange.path.split('/').at(-1)!;
  const asked = new URLSearchParams(exchange.search).get('at');
  if (asked !== null && !/^\d{1,15}$/.test(asked))
    throw invalid.field('at', 'must be a time in milliseconds since 1970');
  const shared = await readShared(token, asked === null ? null : Number(asked));
  const { run, mask } = shared;
  const title = mask(run.missionTitle ?? 'Mission');
  const body = html`<section class="card">
    <p class="muted small">Shared until ${day(shared.expiresAt)}. Secrets and addresses are masked.</p>
    <h1>${title}</h1>
    ${stateOf(shared, asked !== null)}
  </section>
  ${replayOf(shared)}
  ${stepsOf(shared)}
  ${planOf(shared)}
  ${transcriptOf(shared)}
  ${filesOf(shared)}
  ${logOf(shared)}`;
  return answerPage(exchange, 200, { title, body }, unlisted);
}

const stateOf = ({ run, moment }: SharedRun, isMoment: boolean): Html => html`<dl class="facts">
    ${isMoment && html`<dt>Moment</dt><dd>${instantOf(moment.at)}</dd>`}
    <dt>Status</dt><dd>${moment.status}</dd>
    <dt>Cost</dt><dd>${moment.costUsd.toFixed(2)} USD</dd>
    ${run.changedFiles !== null && !isMoment && html`<dt>Change</dt><dd>${run.changedFiles} files, +${run.insertions ?? 0} &minus;${run.deletions ?? 0}</dd>`}
  </dl>`;

/** The events, each a link to its moment. */
const replayOf = ({ events, moment, mask }: SharedRun): Html => html`<section class="card">
    <h2>Timeline</h2>
    <ol class="plain">${events.map(
      ({
        at,
        kind,
        text,
      }) => html`<li><a href="?at=${at}"${at === moment.at && html` aria-current="true"`}>${instantOf(at)}</a>
        <span class="muted">${kind}</span> ${mask(text)}</li>`,
    )}</ol>
    <p><a href="?">The newest state</a></p>
  </section>`;

const stepsOf = ({ moment, mask }: SharedRun): Html | null =>
  moment.steps.length === 0
    ? null
    : html`<section class="card"><h2>Steps</h2><ol>${moment.steps.map(
        ({ role, model, status, error }) =>
          html`<li>${role} <span class="muted">${shownModel(model) && `${model}, `}${status}</span>${error && html`<p>${mask(error)}</p>`}</li>`,
      )}</ol></section>`;

const planOf = ({ moment: { plan }, mask }: SharedRun): Html | null =>
  plan.length === 0
    ? null
    : html`<section class="card"><h2>Plan</h2><ol>${plan.map(
        ({ content, status }) => html`<li>${mask(content)} <span class="muted">${status}</span></li>`,
      )}</ol></section>`;

const shownCharacters = 4_000;
const shortened = (text: string): string =>
  text.length > shownCharacters ? `${text.slice(0, shownCharacters).toWellFormed()} …` : text;

/** Texts of agents and people, sorted by time. */
function transcriptOf({ moment: { fragments, messages }, mask }: SharedRun): Html | null {
  const entries = [
    ...fragments
      .filter(({ kind }) => kind !== 'plan' && kind !== 'prompt')
      .map(({ at, kind, body, action, parameter, result }) => ({
        at,
        who: kind as string,
        text: [action, body, parameter, result].filter(Boolean).join('\n'),
      })),
    ...messages.map(({ createdAt: at, kind, text }) => ({ at, who: 'a person', text: text || kind })),
  ].sort((a, b) => a.at - b.at);
  if (entries.length === 0) return null;
  return html`<section class="card"><h2>Transcript</h2>${entries.map(
    ({ at, who, text }) =>
      html`<article><p class="muted small">${instantOf(at)}, ${who}</p><pre>${shortened(mask(text))}</pre></article>`,
  )}</section>`;
}

const filesOf = ({ moment: { paths }, mask }: SharedRun): Html | null =>
  paths === null
    ? null
    : html`<section class="card"><h2>Changed files</h2><ul>${paths.map((path) => html`<li><code>${mask(path)}</code></li>`)}</ul></section>`;

const logOf = ({ moment: { log }, mask }: SharedRun): Html | null =>
  log === '' ? null : html`<section class="card"><h2>Log</h2><pre>${mask(log)}</pre></section>`;
