// The files of the console's pages that the server renders.
import { assets } from '#foundation/http/assets.ts';
import { productIcon, styleSheet } from '../style-sheet.ts';
import { passkeyScript } from './passkey-script.ts';
import { consoleScript } from './script.ts';

export const files = assets('/console', async () => ({
  'style.css': { type: 'text/css; charset=utf-8', content: styleSheet },
  'icon.svg': { type: 'image/svg+xml', content: productIcon },
  'passkey.js': { type: 'text/javascript; charset=utf-8', content: await passkeyScript() },
  'console.js': { type: 'text/javascript; charset=utf-8', content: consoleScript },
}));
