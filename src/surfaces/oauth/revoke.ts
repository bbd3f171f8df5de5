// The revocation endpoint (RFC 7009): always 200 with an empty body, even for an unknown token.
import { revokePresentedToken } from '#domain/identity/oauth/revocation.ts';
import { answer, type Handler } from '#foundation/http/http.ts';
import { readParameters } from './parameters.ts';
import { OAuthRevokeRequest } from './records.ts';

export const answerRevocation: Handler = async (exchange) => {
  const { token, client_id } = await readParameters(exchange, OAuthRevokeRequest);
  await revokePresentedToken(token, client_id);
  answer(exchange, 200);
};
