// Converts errors of Stripe's library to problems: temporary errors are retryable, errors that a person can correct say how, and all other
// errors are logged without the request and its headers.
import Stripe from 'stripe';
import { refuseInTransaction } from '#foundation/postgres/database.ts';
import { badGateway, conflict, upstreamBusy, upstreamUnavailable } from '#foundation/problem.ts';

const { errors } = Stripe;
const retryAfterSeconds = 5;

/** Wraps a function so that errors of Stripe's library are converted. */
export const translated =
  <A extends unknown[], T>(work: (...args: A) => Promise<T>) =>
  async (...args: A): Promise<T> => {
    refuseInTransaction('a call to the payment provider');
    try {
      return await work(...args);
    } catch (error) {
      throw error instanceof errors.StripeError ? problemOf(error) : error;
    }
  };

/** Whether the resource no longer exists at Stripe. For example, a subscription that has ended cannot be canceled again. */
export const isGone = (error: unknown): boolean =>
  error instanceof errors.StripeInvalidRequestError && error.code === 'resource_missing';

function problemOf(error: Stripe.errors.StripeError): Error {
  if (error instanceof errors.StripeRateLimitError)
    return upstreamBusy('The payment provider limits the rate of requests.', retryAfterSeconds);
  if (error instanceof errors.StripeConnectionError || error instanceof errors.StripeAPIError)
    return upstreamUnavailable('The payment provider is unavailable.', retryAfterSeconds);
  if (error instanceof errors.StripeAuthenticationError || error instanceof errors.StripePermissionError)
    return badGateway(
      'The payment provider rejects the key of this service. The operator of this service must correct STRIPE_SECRET_KEY.',
    );
  if (error instanceof errors.StripeCardError) return conflict(`The payment was declined: ${error.message}`);
  if (isGone(error)) return conflict('The payment provider does not know this payment or subscription.');
  const { type, code, param, message, requestId } = error;
  return new Error(`Stripe: ${[type, code, param, message, requestId].filter(Boolean).join(', ')}`);
}
