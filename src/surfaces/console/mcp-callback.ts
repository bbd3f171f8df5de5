// The redirect URI for authorization servers of MCP servers: completes the connection for the signed-in person and redirects to the page
// where they started.
import { z } from 'zod';
import { admit } from '#access/gate.ts';
import { clientDocument, completeOAuth } from '#domain/execution/mcp-servers/authorization.ts';
import { organizationOfOAuth } from '#domain/execution/mcp-servers/grants.ts';
import { answerJson, type Handler } from '#foundation/http/http.ts';
import { invalid } from '#foundation/problem.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { seeOther } from './layout.ts';
import { fieldsOf, ownPath, personsPage, visitorIn } from './visitor.ts';

const arrival = z.object({
  code: boundedText(text.oauthCode),
  state: boundedText(text.oauthState),
  iss: boundedText(text.redirectUri).optional(),
});

/** The authorization server's error text is untrusted and is not shown (RFC 9207, section 2.4). */
export const showMcpCallback = personsPage(async (exchange, visitor) => {
  const answer = new URLSearchParams(exchange.search);
  if (answer.has('error'))
    throw invalid('The server was not connected: its authorization server refused the request. Start again.');
  const arrived = fieldsOf(answer, arrival);
  // The person may have opened another organization since then.
  const orgId = await organizationOfOAuth(visitor.person.id, arrived.state);
  const { caller } = (await visitorIn(exchange, orgId)) ?? visitor;
  admit(caller, 'mcp:write');
  const { returnTo } = await completeOAuth(caller, arrived);
  seeOther(exchange, ownPath(returnTo));
});

/** The service's client metadata, for authorization servers that read it instead of registering clients. */
export const showMcpClient: Handler = (exchange) =>
  answerJson(exchange, 200, clientDocument(), { 'cache-control': 'public, max-age=3600' });
