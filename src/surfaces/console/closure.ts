// The page on which an owner closes the organization, and on which its closure is shown afterwards.
import { z } from 'zod';
import { exportOf, exportOrganization } from '#domain/lifecycle/closure/export.ts';
import { closedRetentionMs, type OrgClosure, type OrgExport } from '#domain/lifecycle/closure/model.ts';
import { closeOrganization, findClosure } from '#domain/lifecycle/closure/operations.ts';
import type { OwnOrganization } from '#domain/organization/organizations/operations.ts';
import { createExportAddress } from '#domain/work/artifacts/address.ts';
import { organizationPath } from '#foundation/http/addresses.ts';
import { type Html, html } from '#foundation/http/html.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { forbidden, type Problem, toProblem } from '#foundation/problem.ts';
import { boundedText } from '#graph/validation.ts';
import type { OrganizationRoute } from './application.ts';
import { answerPage, csrfField, formError, type OrganizationVisitor, seeOther } from './layout.ts';
import { day } from './time.ts';
import { fieldsOf } from './visitor.ts';

export const closurePath = '/closure';
export const exportPath = `${closurePath}/export`;

const addressOf = ({ slug }: { slug: string }, path: string): string => organizationPath(slug) + path;

export const showClosure: OrganizationRoute['GET'] = (exchange, visitor) => answerClosure(exchange, visitor);

const confirmation = z.object({ confirm_slug: boundedText({ max: 200 }), export_data: z.literal('yes').optional() });

export const closeOwnOrganization: OrganizationRoute['POST'] = async (exchange, visitor, _id, form) => {
  const { caller, organization } = visitor;
  try {
    const { confirm_slug, export_data } = fieldsOf(form, confirmation);
    await closeOrganization(caller, organization.id, { confirmSlug: confirm_slug.trim() });
    if (export_data) await exportOrganization(caller, organization.id);
  } catch (error) {
    const problem = toProblem(error);
    if (problem.status !== 400) throw error;
    return answerClosure(exchange, visitor, problem);
  }
  seeOther(exchange, addressOf(organization, closurePath));
};

export const exportOwnOrganization: OrganizationRoute['POST'] = async (exchange, { caller, organization }) => {
  await exportOrganization(caller, organization.id);
  seeOther(exchange, addressOf(organization, closurePath));
};

async function answerClosure(exchange: Exchange, visitor: OrganizationVisitor, refused?: Problem): Promise<void> {
  const { caller, organization } = visitor;
  if (organization.role !== 'owner') throw forbidden('Only an owner can close an organization.');
  const title = organization.closedAt !== null ? `${organization.name} is closed` : 'Close the organization';
  const body =
    organization.closedAt !== null
      ? html`${closedCard(organization, await findClosure(caller, organization.id))}${exportCard(visitor, await exportOf(organization.id))}`
      : closingForm(visitor, refused);
  return answerPage(exchange, refused?.status ?? 200, {
    title,
    visitor,
    body: html`<h1>${title}</h1>${body}`,
  });
}

const closingForm = (visitor: OrganizationVisitor, refused?: Problem): Html => {
  const { name, slug } = visitor.organization;
  return html`<p class="lead">This closes <strong>${name}</strong> for everyone in it. It cannot be undone.</p>
  <section class="card">
    <h2>What happens</h2>
    <ul>
      <li>Tokens, app sign-ins and agents of all members are revoked, and so are pending invites.</li>
      <li>Waiting and running missions are canceled, schedules stop, and sandboxes and previews are removed.</li>
      <li>The subscription ends at once. Unused credits of orders that can still be withdrawn are refunded; all others are forfeited.</li>
      <li>Owners can read the organization for 30 days. Then all of it is erased.</li>
    </ul>
    <form method="post" action="${addressOf(visitor.organization, closurePath)}">${csrfField(visitor)}
      ${formError(refused && `Type ${slug} to confirm.`)}
      <div class="field"><label for="confirm-slug">Type <strong>${slug}</strong> to confirm</label>
        <input id="confirm-slug" name="confirm_slug" maxlength="200" autocomplete="off" autocapitalize="none" spellcheck="false" required></div>
      <label class="check"><input type="checkbox" name="export_data" value="yes">Export the data: an archive that owners can download here for 30 days</label>
      <p class="actions"><button class="danger">Close organization</button> <a class="button quiet" href="/console/account">Cancel</a></p>
    </form>
  </section>`;
};

const closedCard = ({ name }: OwnOrganization, { closedAt, settlements, settledAt }: OrgClosure): Html =>
  html`<p class="lead">Closed on ${day(closedAt)}. Owners can read it until ${day(closedAt + closedRetentionMs)}; then ${name} is erased.</p>
  <section class="card"><h2>What was settled</h2>
    <ul>${settlements.map(({ description }) => html`<li>${description}</li>`)}</ul>
    ${settledAt === null && html`<p class="muted" role="status">Some steps of the closure are still in progress. Reload the page to see their results.</p>`}
    <p><a class="button quiet" href="/console/account">Go to your organizations</a></p>
  </section>`;

const exportCard = (visitor: OrganizationVisitor, made: OrgExport | null): Html =>
  html`<section class="card"><h2>Its data</h2>
    <p class="muted">A zip archive with JSON lines for each table, without secrets. It is erased with the organization.</p>
    ${made?.status === 'preparing' && html`<p role="status">The archive is being prepared. Reload the page to see whether it is ready.</p>`}
    ${made?.status === 'failed' && html`<p role="status">The archive could not be written. The service tries again automatically.</p>`}
    ${made?.status === 'ready' && html`<p><a class="button" href="${createExportAddress(visitor.organization.id).url}">Download the data</a> <span class="muted small">${Math.ceil(made.sizeBytes! / 1024)} KiB</span></p>`}
    ${
      (made === null || made.status === 'failed') &&
      html`<form method="post" action="${addressOf(visitor.organization, exportPath)}">${csrfField(visitor)}
      <p class="actions"><button>${made ? 'Try again now' : 'Export the data'}</button></p>
    </form>`
    }
  </section>`;
