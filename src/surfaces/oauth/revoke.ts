// The revocation endpoint (RFC 7009): 200 and nothing else, whether or not there was something to end.
import { revokePresentedToken } from '#domain/identity/oauth/revocation.ts';
import { answer, type Handler } from '#foundation/http/http.ts';
import { readParameters } from './parameters.ts';
import { OAuthRevokeRequest } from './records.ts';

export const answerRevocation: Handler = async (exchange) => {
  const { token, client_id } = await readParameters(exchange, OAuthRevokeRequest);
  await revokePresentedToken(token, client_id);
  answer(exchange, 200);
};
