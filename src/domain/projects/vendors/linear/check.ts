// The check of Linear's credentials.
import { z } from 'zod';
import type { VendorConnection } from '../connection.ts';
import { AccountName, accepted, type Verdict } from '../vendor.ts';
import { queryLinear } from './api.ts';

const whoseQuery = 'query Whose { organization { urlKey } }';
const Whose = z.object({ organization: z.object({ urlKey: AccountName }) });

export const checkLinear = async (connection: VendorConnection): Promise<Verdict> =>
  accepted((await queryLinear(connection, Whose, whoseQuery, {})).organization.urlKey);
