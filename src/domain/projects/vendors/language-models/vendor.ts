// The check of credentials of language models.
import { call, type VendorConnection } from '../connection.ts';
import { accepted, rejected, type VendorModule, type Verdict } from '../vendor.ts';
import { headersOf, modelPath } from './calls.ts';

/** Requests the list of models, which compatible servers may lack. */
async function checkModels(connection: VendorConnection): Promise<Verdict> {
  const { name } = connection;
  const { status } = await call(connection, modelPath(connection, '/models'), { headers: headersOf(connection) });
  if (status >= 200 && status < 300) return accepted(null);
  if (status === 401 || status === 403)
    return rejected('credentials', `${name} rejected the credentials (status ${status}).`);
  return rejected(null, `${name} did not list its models (status ${status}).`);
}

export const languageModels: VendorModule = { check: checkModels };
