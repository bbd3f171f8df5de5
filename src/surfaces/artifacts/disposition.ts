// Response headers for an artifact's content, whose type is only claimed by the uploader: media that browsers do not execute are shown
// inline, and everything else is saved as a file. No content runs as a page of this origin.

/** Media types that are shown inline, because they contain no scripts; SVG, HTML, XML and PDF are excluded. */
const harmless: Record<string, string> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'text/plain': 'txt',
};
/** Extensions for media types that are saved as files. */
const saved: Record<string, string> = {
  'application/json': 'json',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/gzip': 'gz',
  'image/svg+xml': 'svg',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/markdown': 'md',
};

/** Headers that say whether the content is shown or saved. The file name does not contain the caption, which is arbitrary text. */
export function presentation(contentType: string, name: string): Record<string, string> {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
  const isInline = Object.hasOwn(harmless, type);
  const extension = isInline ? harmless[type] : Object.hasOwn(saved, type) ? saved[type] : 'bin';
  return {
    'content-type': !isInline ? 'application/octet-stream' : type === 'text/plain' ? 'text/plain; charset=utf-8' : type,
    'content-disposition': `${isInline ? 'inline' : 'attachment'}; filename="${name}.${extension}"`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  };
}
