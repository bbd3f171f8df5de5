// Identifies the person who sends a request, and checks that a form comes from one of the service's pages. Wraps every page that requires a
// signed-in person.
import type { z } from 'zod';
import { requireAllowedAddress } from '#access/allowed-addresses.ts';
import { outsideOrganization } from '#domain/identity/sessions/caller.ts';
import { chooseOrganization } from '#domain/identity/sessions/operations.ts';
import {
  type OwnOrganization,
  organizationsOf,
  organizationsWithIds,
} from '#domain/organization/organizations/operations.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { type Exchange, type Handler, mediaType, readForm } from '#foundation/http/http.ts';
import { forbidden, invalid, unsupportedMediaType } from '#foundation/problem.ts';
import { fieldErrorsOf } from '#graph/validation.ts';
import { bytes } from '#limits.ts';
import { csrfToken, isCsrfToken, sameOrigin, sessionOf } from '../cookie.ts';
import { seeOther, type Visitor } from './layout.ts';

/** The organization slug in the URL of a page; null when there is none. */
export const slugOfAddress = (path: string): string | null => /^\/console\/o\/([^/]+)/.exec(path)?.[1] ?? null;

/** The organization with the slug, or else the organization that formerly had the slug. */
export const organizationOfSlug = (
  organizations: readonly OwnOrganization[],
  slug: string,
): OwnOrganization | undefined =>
  organizations.find((own) => own.slug === slug) ?? organizations.find((own) => own.formerSlugs.includes(slug));

/** The person of the request, or null. If the URL names one of their organizations, it becomes the chosen one. */
export async function visitorOf(exchange: Exchange): Promise<Visitor | null> {
  const visitor = await visitorIn(exchange, null);
  const slug = visitor && slugOfAddress(exchange.path);
  if (!slug) return visitor;
  const organization = organizationOfSlug(visitor.organizations, slug);
  if (!organization) return visitorOfHidden(exchange, visitor, slug);
  if (organization.id === visitor.caller.orgId) return visitor;
  await chooseOrganization(visitor.caller, organization.id);
  return visitorIn(exchange, organization.id);
}

/**
 * Handles a page whose organization is not in the visitor's list. If the organization is only hidden from the list, the visitor acts in it;
 * otherwise the visitor is returned unchanged.
 * @throws 403 when the organization does not allow the address, 404 when the person is not a member
 */
async function visitorOfHidden(exchange: Exchange, visitor: Visitor, slug: string): Promise<Visitor | null> {
  const hidden = (await organizationsWithIds(visitor.caller.hiddenOrgIds ?? [])).find((one) => one.slug === slug);
  return hidden ? visitorIn(exchange, hidden.id) : visitor;
}

/**
 * Returns the person who sends the request, acting in the organization `orgId`. If `orgId` is null, the person acts in the organization
 * that they chose last, or in none if that organization does not allow the address of the request. @throws 404, 403 when the organization
 * `orgId` does not allow the address
 */
export async function visitorIn(exchange: Exchange, orgId: string | null): Promise<Visitor | null> {
  const found = await sessionOf(exchange, orgId);
  if (!found) return null;
  const { session } = found;
  if (orgId !== null) requireAllowedAddress(found.caller, exchange);
  const caller = found.caller.isAddressRefused ? outsideOrganization(found.caller) : found.caller;
  exchange.credentialId = session.id;
  exchange.caller = caller;
  caller.source = exchange;
  const organizations = await organizationsOf(session.person.id, caller.hiddenOrgIds);
  const organization = organizations.find(({ id }) => id === caller.orgId) ?? null;
  return { caller, person: session.person, csrf: csrfToken(session.id), organizations, organization };
}

/** A page for a signed-in person; anybody else is redirected to the sign-in, and back afterwards. */
export const personsPage =
  (show: (exchange: Exchange, visitor: Visitor) => Promise<void>): Handler =>
  async (exchange) => {
    const visitor = await visitorOf(exchange);
    return visitor ? show(exchange, visitor) : signInFirst(exchange);
  };

/** Redirects to the sign-in, and back to this page afterwards. */
export function signInFirst(exchange: Exchange): void {
  const { path, search } = exchange;
  seeOther(exchange, signInAddress(search ? `${path}?${search}` : path));
}

/** Handles a form that a signed-in person sent from one of the service's pages. Any other form gets 403 before its fields are read. */
export const personsForm =
  (act: (exchange: Exchange, visitor: Visitor, form: URLSearchParams) => Promise<void>): Handler =>
  async (exchange) => {
    const form = await readOwnForm(exchange);
    const visitor = await visitorOf(exchange);
    if (!visitor) return seeOther(exchange, signInAddress('/console'));
    if (!isCsrfToken(exchange.credentialId!, form.get('csrf_token'))) throw foreignForm();
    await act(exchange, visitor, form);
  };

/** Reads a form sent by one of the service's pages. @throws 403 for a form of another site */
export async function readOwnForm(exchange: Exchange): Promise<URLSearchParams> {
  if (!sameOrigin(exchange.req)) throw foreignForm();
  if (mediaType(exchange) !== 'application/x-www-form-urlencoded') {
    throw unsupportedMediaType('Send the form as application/x-www-form-urlencoded.');
  }
  return readForm(exchange, bytes.consoleForm);
}

const foreignForm = () =>
  forbidden('This form did not come from one of our pages. Go back, reload the page and try again.');

/** The fields of a form; a repeated field has its last value. @throws 400 naming each invalid field */
export function fieldsOf<S extends z.ZodObject>(form: URLSearchParams, shape: S): z.output<S> {
  const parsed = shape.safeParse(Object.fromEntries(form));
  if (!parsed.success) throw invalid.fields(fieldErrorsOf(parsed.error));
  return parsed.data;
}

const signInAddress = (returnTo: string): string => `/sign-in?return_to=${encodeURIComponent(returnTo)}`;

/**
 * The path to redirect to after sign-in: one of the service's own, or the console. Parsed as in browsers, because `/\evil.example` and
 * `//evil.example` resemble paths but are not.
 */
export function ownPath(value: string | null): string {
  const { issuer } = addresses();
  const url = value && URL.canParse(value, issuer) ? new URL(value, issuer) : null;
  if (!url || url.origin !== new URL(issuer).origin || !/^https?:$/.test(url.protocol)) return '/console';
  // The origin alone is not enough: the path of `https://own.example//evil.example` would by itself redirect to another host.
  return `/${url.href.slice(url.origin.length).replace(/^\/+/, '')}`;
}
