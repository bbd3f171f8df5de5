// The conformance suite is built for Node 22: it imports globSync from node:fs, which Node 20 lacks. The tests that run never call
// it.
import fs from 'node:fs';
import { register } from 'node:module';

const moduleOf = (code) => `data:text/javascript,${encodeURIComponent(code)}`;
const shim = moduleOf("export * from 'node:fs'; export const globSync = () => [];");
const hooks = `export const resolve = (name, context, next) => /^(node:)?fs$/.test(name) && /conformance/.test(context.parentURL)
  ? { url: ${JSON.stringify(shim)}, shortCircuit: true } : next(name, context);`;
if (!fs.globSync) register(moduleOf(hooks));
