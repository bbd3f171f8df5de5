// Exports of the package.
export type * from './api.ts';
export { type Calls, type Client, createClient, type Streams } from './client.ts';
export { type WithDates, withDates } from './dates.ts';
export {
  ApiError,
  ConflictError,
  type ConnectionCode,
  ConnectionError,
  type FieldError,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
  PaymentRequiredError,
  RateLimitError,
  ServiceError,
  UnauthenticatedError,
} from './errors.ts';
export { Listing } from './listing.ts';
export type { CallOptions, TokenSource, TransportSettings as ClientSettings } from './transport.ts';
