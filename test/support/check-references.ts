// Fails the test file if one of its statements cannot use the index of a reference (reference-plans.ts).
import { afterAll, expect } from 'vitest';
import { unusedIndexes } from './reference-plans.ts';

afterAll(async () => expect(await unusedIndexes()).toEqual([]));
