// Limits on requests and attempts to sign in, shared by all processes. Strangers cannot lock a person out of a browser in which the person
// has signed in before, because their requests and attempts are counted separately.
import { networkOf } from '#foundation/http/network.ts';
import { createSharedThrottle } from '#foundation/http/throttle.ts';
import { rates } from '#limits.ts';

const hour = 3_600;
const day = 24 * hour;
const otherWays = 'Sign in with a passkey, or with a code or link that was already sent.';

const mailsOfNetwork = createSharedThrottle(
  'sign-in mails of a network',
  rates.signInMailsPerHourAndNetwork,
  hour,
  'Too many codes were requested from this network.',
);
const mailsOfNetworkToAddress = createSharedThrottle(
  'sign-in mails of a network to an address',
  rates.signInMailsPerDayToAddressFromNetwork,
  day,
  `Too many codes for this email address were requested from this network. ${otherWays}`,
);
const mailsToAddress = createSharedThrottle(
  'sign-in mails to an address',
  rates.signInMailsPerDayToAddress,
  day,
  `Too many codes were sent to this email address. ${otherWays}`,
);
const mailsOfKnownBrowser = createSharedThrottle(
  'sign-in mails of a known browser',
  rates.signInMailsPerDayOfKnownBrowser,
  day,
  `Too many codes were requested from this browser. ${otherWays}`,
);
const triesOfNetwork = createSharedThrottle(
  'sign-in tries of a network',
  rates.signInTriesPerHourAndNetwork,
  hour,
  'Too many codes were tried from this network.',
);

/** The origin of a sign-in request. */
export interface SignInSource {
  /** The client's address. */
  address: string;
  /** The id of a browser in which this email address has signed in before; null for any other browser. */
  knownBrowser: string | null;
}

/** Counts an email to an address toward the limits. @throws 429 */
export async function admitSignInMail(email: string, { address, knownBrowser }: SignInSource): Promise<void> {
  if (knownBrowser) return void (await mailsOfKnownBrowser.take(`${knownBrowser} ${email}`));
  const network = networkOf(address);
  await mailsOfNetwork.take(network);
  await mailsOfNetworkToAddress.take(`${network} ${email}`);
  await mailsToAddress.take(email);
}

/** Counts an attempt before its code is compared. For a known browser, only the limit on attempts per code applies. @throws 429 */
export async function admitSignInTry({ address, knownBrowser }: SignInSource): Promise<void> {
  if (!knownBrowser) await triesOfNetwork.take(networkOf(address));
}
