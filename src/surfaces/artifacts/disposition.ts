// Response headers for an artifact's content, whose type is only claimed by the uploader: media that browsers do not execute are shown
// inline, everything else is a file to save, so that no content runs as a page of this origin.

/** Types that are shown inline: media without scripts. SVG, HTML, XML and PDF are not among them. */
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
/** Types that are saved with an extension that programs recognize. */
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

/** The file name omits the caption, which is arbitrary text. */
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
