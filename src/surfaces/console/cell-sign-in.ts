// Signs a person in to this cell by their session in another cell: that cell confirms the person's email address once, and only to the
// browser that has started the sign-in. No cookie passes from cell to cell (docs/cells.md).
import { z } from 'zod';
import { wholePerson } from '#access/reach.ts';
import { findOrCreatePerson } from '#domain/organization/people/operations.ts';
import { now } from '#foundation/clock.ts';
import { addressOfCell, otherCells, ownCell, readSigned, signForCells } from '#foundation/http/cells.ts';
import { html } from '#foundation/http/html.ts';
import type { Exchange, Handler } from '#foundation/http/http.ts';
import { networkOf } from '#foundation/http/network.ts';
import { createSharedThrottle } from '#foundation/http/throttle.ts';
import { forbidden, invalid, notFound } from '#foundation/problem.ts';
import { newSecret, seal } from '#foundation/secrets/secrets.ts';
import { lifetimesMs, rates } from '#limits.ts';
import { cookieOf, setCookie } from '../cookie.ts';
import { answerPage, csrfField, seeOther, type Visitor } from './layout.ts';
import { openSealed } from './sealed.ts';
import { signIn } from './sign-in.ts';
import { ownPath, personsForm, personsPage, visitorOf } from './visitor.ts';

/** Paths of a sign-in with the session of another cell: its start, the page of the other cell that confirms it, and the return. */
export const cellSignInPaths = { start: '/sign-in/cell', vouch: '/sign-in/vouch', return: '/sign-in/cell/return' };

/** URL of a page in another cell. It signs the person in there with their session in this cell. */
export const cellSignInFrom = (cell: string, path: string): string =>
  `${addressOfCell(cell)}${cellSignInPaths.start}?${new URLSearchParams({ cell: ownCell()!, return_to: path })}`;

const cookie = 'cell-sign-in';
const throttle = createSharedThrottle(
  'sign-ins with sessions of other cells',
  rates.upstreamSignInsPerHourAndNetwork,
  3_600,
  'Too many sign-ins were started from this network.',
);

const started = z.object({ state: z.string(), cell: z.string(), returnTo: z.string(), expiresAt: z.number() });

interface Voucher {
  from: string;
  to: string;
  state: string;
  email: string;
  name: string;
}

const parametersOf = ({ search }: Exchange): URLSearchParams => new URLSearchParams(search);

/**
 * The other cell that the parameter `cell` names.
 * @throws 404
 */
function cellOf(exchange: Exchange): string {
  const cell = parametersOf(exchange).get('cell') ?? '';
  if (!otherCells().includes(cell)) throw notFound('cell');
  return cell;
}

/**
 * A GET request may start the sign-in: even a link on another site can only sign visitors in as themselves, and does not replace a session.
 */
export const startCellSignIn: Handler = async (exchange) => {
  const cell = cellOf(exchange);
  await throttle.take(networkOf(exchange.address));
  const state = newSecret('');
  const expiresAt = now() + lifetimesMs.upstreamSignIn;
  const returnTo = ownPath(parametersOf(exchange).get('return_to'));
  const sealed = seal(cookie, JSON.stringify({ state, cell, returnTo, expiresAt }));
  setCookie(exchange, cookie, sealed, lifetimesMs.upstreamSignIn);
  const query = new URLSearchParams({ cell: ownCell()!, state });
  seeOther(exchange, `${addressOfCell(cell)}${cellSignInPaths.vouch}?${query}`);
};

/** Vouches for the visitor, who signs in here first if there is no session. A session of a single organization is not passed on. */
export const vouchForCell: Handler = personsPage(async (exchange, { caller, person }) => {
  wholePerson(caller);
  const to = cellOf(exchange);
  const state = (parametersOf(exchange).get('state') ?? '').slice(0, 100);
  const voucher: Voucher = { from: ownCell()!, to, state, email: person.email, name: person.name };
  const query = new URLSearchParams({ voucher: signForCells('sign-in', voucher) });
  seeOther(exchange, `${addressOfCell(to)}${cellSignInPaths.return}?${query}`);
});

export const finishCellSignIn: Handler = async (exchange) => {
  const begun = openSealed(started, cookieOf(exchange, cookie), cookie);
  setCookie(exchange, cookie, null, 0);
  const voucher = readSigned<Voucher>('sign-in', parametersOf(exchange).get('voucher') ?? '');
  if (!begun || voucher?.state !== begun.state)
    throw invalid('This sign-in expired or was started in another browser. Start again.');
  if (voucher.to !== ownCell() || voucher.from !== begun.cell) throw forbidden('This sign-in is for another cell.');
  const { returnTo, expiresAt } = begun;
  const offered = { email: voucher.email, name: voucher.name, returnTo, expiresAt };
  const visitor = await visitorOf(exchange);
  // Another site may have started the sign-in, which must not replace a session without asking.
  if (visitor && visitor.person.email !== offered.email) return offerSwitch(exchange, visitor, offered);
  if (visitor && !visitor.caller.isOrgOnly) return seeOther(exchange, returnTo);
  await signInAs(exchange, offered);
};

const offer = z.object({ email: z.string(), name: z.string(), returnTo: z.string(), expiresAt: z.number() });
type Offer = z.infer<typeof offer>;

const signInAs = async (exchange: Exchange, { email, name, returnTo }: Offer): Promise<void> =>
  signIn(exchange, await findOrCreatePerson(email, name), returnTo);

const offerPurpose = 'sign-in as another person';

/** Asks for confirmation when the session in this cell belongs to another person. */
function offerSwitch(exchange: Exchange, visitor: Visitor, offered: Offer): Promise<void> {
  const body = html`<section class="card">
    <h1>You are signed in as another person</h1>
    <p>You are signed in here as <strong>${visitor.person.email}</strong>, and in the other cell as <strong>${offered.email}</strong>.</p>
    <form method="post" action="${cellSignInPaths.start}">${csrfField(visitor)}
      <input type="hidden" name="offer" value="${seal(offerPurpose, JSON.stringify(offered))}">
      <button class="full">Continue as ${offered.email}</button></form>
    <a class="button quiet full" href="/console">Stay signed in as ${visitor.person.email}</a>
  </section>`;
  return answerPage(exchange, 200, { title: 'Sign in', body });
}

/** Replaces the session after the visitor has confirmed it. */
export const switchPerson: Handler = personsForm(async (exchange, _, form) => {
  const offered = openSealed(offer, form.get('offer'), offerPurpose);
  if (!offered) throw invalid('This sign-in expired. Start again.');
  await signInAs(exchange, offered);
});
