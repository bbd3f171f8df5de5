// GET /v1/events: the events feed as a page, as a long-polled page, or as server-sent events (WHATWG HTML, section 9.2). A client can
// continue after any event number, at any process (docs/events.md).
import { admit } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { ownOrganization } from '#access/reach.ts';
import { type FeedPage, readFeed } from '#domain/lifecycle/audit/feed.ts';
import { logOf } from '#domain/lifecycle/audit/numbers.ts';
import { now, seconds } from '#foundation/clock.ts';
import { sendEvents } from '#foundation/http/event-stream.ts';
import { answerJson, type Exchange } from '#foundation/http/http.ts';
import { watch } from '#foundation/postgres/changes.ts';
import { withTimeLimit } from '#foundation/time-limit.ts';
import { pages, subscriptions } from '#limits.ts';
import { refuseFor } from '../bearer.ts';
import { allowMethods, type CallerSettings, framed, identify } from '../frame.ts';
import { createSlotLimiter, holdOpen } from '../subscription-slots.ts';
import { type FeedParameters, readFeedParameters } from './parameters.ts';

export interface EventSettings extends CallerSettings {
  /** Looks the caller up again while the request is being answered. @throws 401 when the credential is no longer valid */
  recheckCaller(exchange: Exchange, caller: Caller): Promise<Caller>;
  subscriptionsPerOrganization?: number;
}

const path = '/v1/events';
/** Age after which the caller is looked up again before events are sent. */
const maxCheckAgeMs = seconds(1);

export function createEventsFeed(settings: EventSettings) {
  const perOrganization = settings.subscriptionsPerOrganization ?? subscriptions.perOrganization;
  const takeSlot = createSlotLimiter({ ...subscriptions, perOrganization });

  async function handle(exchange: Exchange): Promise<void> {
    exchange.route = '/events';
    allowMethods(exchange, 'GET', 'HEAD');
    const caller = await identify(settings, exchange);
    admit(caller, 'audit:read', 'events');
    const parameters = readFeedParameters(exchange);
    const isStream = exchange.req.method === 'GET' && /\btext\/event-stream\b/i.test(exchange.req.headers.accept ?? '');
    if (isStream) return sendStream(exchange, open(exchange, caller, { ...parameters, limit: pages.other.max }));
    const page =
      parameters.wait > 0 && exchange.req.method === 'GET'
        ? await nextPage(open(exchange, caller, parameters), parameters.wait)
        : await readFeed(caller, parameters);
    answerJson(exchange, 200, page, { 'cache-control': 'no-store' });
  }

  /** An open feed, which occupies a slot until its socket closes. */
  function open(exchange: Exchange, caller: Caller, parameters: FeedParameters): Feed {
    let [present, checkedAt] = [caller, now()];
    const check = async (): Promise<void> => {
      present = await settings.recheckCaller(exchange, caller);
      admit(present, 'audit:read', 'events');
      checkedAt = now();
    };
    const signal = holdOpen(exchange, takeSlot(caller), check);
    return {
      signal,
      async presentCaller() {
        if (now() - checkedAt >= maxCheckAgeMs) await check();
        return present;
      },
      parameters,
      logId: logOf(ownOrganization(caller)),
    };
  }

  const owns = (asked: string): boolean => asked === path;
  return { name: 'events', owns, handle: framed(handle, { ...settings, refuse: refuseFor('api') }) };
}

interface Feed {
  signal: AbortSignal;
  /** Looks the caller up again. @throws 401, 403 for a caller that is no longer authorized */
  presentCaller(): Promise<Caller>;
  parameters: FeedParameters;
  /** The id under which new events of the organization are announced. */
  logId: string;
}

/** Yields the first page at once, then a page after each announcement, even one without matching events. */
async function* follow({ presentCaller, parameters, logId }: Feed, signal: AbortSignal): AsyncGenerator<FeedPage> {
  let { after } = parameters;
  for await (const _ of watch([logId], signal)) {
    let page: FeedPage;
    do {
      page = await readFeed(await presentCaller(), { ...parameters, after });
      after = page.lastNumber;
      yield page;
    } while (page.hasMore && !signal.aborted);
  }
}

/** Returns the first page that contains events. If no event happens within `waitSeconds`, returns an empty page. */
async function nextPage(feed: Feed, waitSeconds: number): Promise<FeedPage> {
  const signal = withTimeLimit(feed.signal, seconds(waitSeconds));
  let last: FeedPage | undefined;
  for await (const page of follow(feed, signal)) {
    if (page.data.length > 0) return page;
    last = page;
  }
  // The caller is looked up again, because its credential may have been revoked during the wait.
  const caller = await feed.presentCaller();
  return last ?? readFeed(caller, feed.parameters);
}

/**
 * Sends server-sent events. An error before the first page is an ordinary response; a later error ends the connection, and the reader
 * reconnects.
 */
async function sendStream({ res }: Exchange, feed: Feed): Promise<void> {
  const rest = follow(feed, feed.signal);
  await sendEvents(res, { first: await rest.next(), rest, blocksOf });
}

/**
 * The event stream of a page: each event, and finally a block without data, which advances the reader's position past events that the
 * filter excluded.
 */
const blocksOf = ({ data, lastNumber }: FeedPage): string =>
  `${data.map((event) => `id: ${event.number}\ndata: ${JSON.stringify(event)}\n\n`).join('')}id: ${lastNumber}\n\n`;
