// The pages of an organization, at `/console/o/{slug}/…`. URLs without an organization, from older links, redirect.
import { findCheckout } from '#domain/money/billing/checkout.ts';
import { findOrder } from '#domain/money/billing/operations.ts';
import { organizationPath } from '#foundation/http/addresses.ts';
import type { Exchange, Handler } from '#foundation/http/http.ts';
import { notFound, toProblem } from '#foundation/problem.ts';
import { applicationRoutes, type OrganizationRoute } from './application.ts';
import { payCheckout, showCheckout } from './checkout.ts';
import { closeOwnOrganization, closurePath, exportOwnOrganization, exportPath, showClosure } from './closure.ts';
import { answerWithoutOrganization, type OrganizationVisitor, seeOther, type Visitor } from './layout.ts';
import { patternOf } from './pages.ts';
import { showReceipt } from './receipt.ts';
import { organizationOfSlug, personsForm, personsPage, slugOfAddress, visitorIn } from './visitor.ts';

const routes: readonly OrganizationRoute[] = [
  {
    address: '',
    GET: async (exchange, { organization }) => seeOther(exchange, pageOf(organization.slug, '/inbox')),
  },
  ...applicationRoutes,
  { address: '/billing/orders/:id', GET: showReceipt, find: findOrder },
  { address: '/checkout/:id', GET: showCheckout, POST: payCheckout, find: findCheckout },
  { address: closurePath, GET: showClosure, POST: closeOwnOrganization },
  {
    address: exportPath,
    GET: async (exchange, { organization }) => seeOther(exchange, pageOf(organization.slug, closurePath)),
    POST: exportOwnOrganization,
  },
];
const patterns = routes.map((route) => [patternOf(route.address), route] as const);

const pageOf = (slug: string, path: string): string => organizationPath(slug) + path;

/** The route that matches a path: its URL with parameter names, and its methods. */
type Found = [route: string, methods: Partial<Record<'GET' | 'POST', Handler>>];

export function findOrganizationPage(path: string): Found | undefined {
  const slug = slugOfAddress(path);
  const base = slug === null ? '/console' : organizationPath(slug);
  if (!path.startsWith(base)) return undefined;
  const within = path.slice(base.length);
  const found = patterns.find(([pattern]) => pattern.test(within));
  if (!found) return undefined;
  const [pattern, route] = found;
  const id = pattern.exec(within)![1] ?? '';
  const { GET, POST } = route;
  if (slug === null) {
    const leave = redirectOld(route, within, id);
    return [`/console${named(route)}`, { GET: leave, ...(POST && { POST: leave }) }];
  }
  return [
    `/console/o/{slug}${named(route)}`,
    {
      GET: personsPage((exchange, visitor) => inOwn(exchange, visitor, slug, (member) => GET(exchange, member, id))),
      ...(POST && {
        POST: personsForm((exchange, visitor, form) =>
          inOwn(exchange, visitor, slug, (member) => POST(exchange, member, id, form)),
        ),
      }),
    },
  ];
}

const named = ({ address }: OrganizationRoute): string => address.replace(':id', '{id}');
const searchOf = ({ search }: Exchange): string => (search ? `?${search}` : '');

/**
 * Identifies the person and the organization of a URL.
 * @throws 404 for an organization to which the person does not belong, as for an unknown one
 */
async function inOwn(
  exchange: Exchange,
  visitor: Visitor,
  slug: string,
  answer: (member: OrganizationVisitor) => Promise<void>,
): Promise<void> {
  const organization = organizationOfSlug(visitor.organizations, slug);
  if (!organization) throw notFound('organization');
  if (organization.slug === slug) return answer({ ...visitor, organization });
  const within = exchange.path.slice(organizationPath(slug).length);
  seeOther(exchange, pageOf(organization.slug, within) + searchOf(exchange));
}

/** Maximum number of a person's organizations that are searched for the record of an old URL. */
const maxLookedThrough = 20;

/** Redirects to the person's organization that has the record, or else to the organization that was chosen last. */
const redirectOld = ({ find }: OrganizationRoute, within: string, id: string): Handler =>
  personsPage(async (exchange, visitor) => {
    const { organization: current, organizations } = visitor;
    if (!current) return answerWithoutOrganization(exchange, visitor);
    const others = organizations.filter(({ id: orgId }) => orgId !== current.id);
    let target = current;
    for (const organization of find ? [current, ...others].slice(0, maxLookedThrough) : []) {
      const { caller } = (await visitorIn(exchange, organization.id))!;
      const isThere = await find!(caller, id).then(
        () => true,
        (error) => {
          if (toProblem(error).status >= 500) throw error;
          return false;
        },
      );
      if (isThere) {
        target = organization;
        break;
      }
    }
    seeOther(exchange, pageOf(target.slug, within) + searchOf(exchange));
  });
