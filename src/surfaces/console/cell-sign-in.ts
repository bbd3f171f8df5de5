// Sign-in to this cell with the session that a person has in another cell: that cell vouches once for the email address, to the browser in
// which the sign-in was started. No cookie passes from cell to cell (docs/cells.md).
import { z } from 'zod';
import { wholePerson } from '#access/reach.ts';
import { findOrCreatePerson } from '#domain/organization/people/operations.ts';
import { now } from '#foundation/clock.ts';
import { addressOfCell, otherCells, ownCell, readSigned, signForCells } from '#foundation/http/cells.ts';
import type { Exchange, Handler } from '#foundation/http/http.ts';
import { networkOf } from '#foundation/http/network.ts';
import { createSharedThrottle } from '#foundation/http/throttle.ts';
import { forbidden, invalid, notFound } from '#foundation/problem.ts';
import { newSecret, seal, unseal } from '#foundation/secrets/secrets.ts';
import { lifetimesMs, rates } from '#limits.ts';
import { cookieOf, setCookie } from '../cookie.ts';
import { seeOther } from './layout.ts';
import { signIn } from './sign-in.ts';
import { ownPath, personsPage } from './visitor.ts';

/** Paths: where a sign-in starts here, where the other cell vouches, and where it sends the browser back. */
export const cellSignInPaths = { start: '/sign-in/cell', vouch: '/sign-in/vouch', return: '/sign-in/cell/return' };

/** Address of a page in another cell, to which the session of this cell signs its person in. */
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

/** The other cell of the parameter. @throws 404 */
function cellOf(exchange: Exchange): string {
  const cell = parametersOf(exchange).get('cell') ?? '';
  if (!otherCells().includes(cell)) throw notFound('cell');
  return cell;
}

/** A link from another site only signs visitors in as themselves, so a GET starts the sign-in. */
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
  const begun = startedIn(exchange);
  setCookie(exchange, cookie, null, 0);
  const voucher = readSigned<Voucher>('sign-in', parametersOf(exchange).get('voucher') ?? '');
  if (!begun || voucher?.state !== begun.state)
    throw invalid('This sign-in expired or was started in another browser. Start again.');
  if (voucher.to !== ownCell() || voucher.from !== begun.cell) throw forbidden('This sign-in is for another cell.');
  await signIn(exchange, await findOrCreatePerson(voucher.email, voucher.name), begun.returnTo);
};

function startedIn(exchange: Exchange): z.infer<typeof started> | null {
  const sealed = cookieOf(exchange, cookie);
  if (!sealed) return null;
  try {
    const begun = started.parse(JSON.parse(unseal(cookie, sealed)));
    return begun.expiresAt > now() ? begun : null;
  } catch {
    return null;
  }
}
