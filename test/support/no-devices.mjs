// Lets a program run as if the package of terminal devices were not installed.
import { register } from 'node:module';

const hooks = `export const resolve = (name, context, next) => {
  if (name === '@lydell/node-pty') throw new Error('not installed');
  return next(name, context);
};`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
