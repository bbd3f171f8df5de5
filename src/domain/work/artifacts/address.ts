// URLs for the download and upload of content. They are signed, so that they need no credential and can be passed to a browser or a tool.
// Each allows one action until it expires.

import { minutes, now } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { sameBytes, signature } from '#foundation/secrets/secrets.ts';
import { lifetimesMs } from '#limits.ts';

/** Period during which repeated reads return the same download URL. */
const addressStepMs = minutes(15);

/** The action that a URL allows: the download of an artifact, a recording or an organization's export, or an upload of content. */
type Purpose = 'artifact' | 'recording' | 'export' | 'upload';

const sign = (purpose: Purpose, id: string, expires: number): Buffer => signature(purpose, `${id}\n${expires}`);

const signed = (purpose: Purpose, id: string, path: string, expires: number): string =>
  `${addresses().baseHost}${path}?expires=${expires}&signature=${sign(purpose, id, expires).toString('base64url')}`;

/**
 * The download URL of an artifact, valid for about an hour. Reads within the same few minutes return the same URL, so that browsers can cache the
 * content.
 */
export function contentAddress(artifactId: string): string {
  const at = now();
  const expires = at - (at % addressStepMs) + addressStepMs + lifetimesMs.downloadAddress;
  return signed('artifact', artifactId, `/artifacts/${artifactId}/content`, expires);
}

let traceViewer: string | null = null;

/** Sets the URL of the trace viewer, without a trailing slash; null means that there is no viewer. */
export function bindTraceViewer(address: string | null): void {
  traceViewer = address;
}

/** URL of a page that shows the trace of an artifact in Playwright's viewer; null without a viewer. */
export const traceViewerAddress = (artifactId: string): string | null =>
  traceViewer && `${traceViewer}/?trace=${encodeURIComponent(contentAddress(artifactId))}`;

/** The URL to upload content to (PUT), with its expiry in epoch milliseconds. */
export function createUploadAddress(contentKey: string): { uploadUrl: string; expiresAt: number } {
  const expiresAt = now() + lifetimesMs.uploadAddress;
  return { uploadUrl: signed('upload', contentKey, `/artifacts/uploads/${contentKey}`, expiresAt), expiresAt };
}

/** The download URL of the recording of a run, valid for an hour. */
export const createRecordingAddress = (runId: string): string =>
  signed('recording', runId, `/recordings/${runId}`, now() + lifetimesMs.downloadAddress);

/** The URL of the archive of a closed organization, and its expiry in epoch milliseconds. */
export function createExportAddress(orgId: string): { url: string; expiresAt: number } {
  const expiresAt = now() + lifetimesMs.downloadAddress;
  return { url: signed('export', orgId, `/exports/${orgId}`, expiresAt), expiresAt };
}

/** The expiry of a valid URL, epoch milliseconds; null for an expired URL or a wrong signature. */
export function addressExpiry(purpose: Purpose, id: string, query: URLSearchParams): number | null {
  const expires = Number(query.get('expires'));
  const presented = Buffer.from(query.get('signature') ?? '', 'base64url');
  return Number.isSafeInteger(expires) && sameBytes(presented, sign(purpose, id, expires)) && expires > now()
    ? expires
    : null;
}
