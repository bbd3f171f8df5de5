// GraphQL enum of the instance types.
import { wordSet } from '#graph/scalars.ts';
import { instanceTypeIds } from './model.ts';

export const InstanceType = wordSet('InstanceType', instanceTypeIds, 'Size of a sandbox.');
