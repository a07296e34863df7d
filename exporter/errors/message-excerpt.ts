const LIMIT = 200;
/** A message that consists of URLs becomes shorter; a server may send megabytes. */
const MAX_READ = 4096;

/**
 * The displayable part of text from a server or a library: one line of at most 200 characters, without control
 * characters, URL user info, URL query or any of the given secrets.
 */
export function messageExcerpt(text: string, secrets: readonly string[] = []): string {
  let shown = text;
  for (const secret of secrets) if (secret.length > 0) shown = shown.replaceAll(secret, '***');
  shown = shown
    .slice(0, MAX_READ)
    .replace(/(\w:\/\/)[^\s/?#@]*@/g, '$1')
    .replace(/(\w:\/\/(?:[^\s?#"':]|:(?!\/\/))*)\?[^\s#"']*/g, '$1')
    .replace(/\p{Cc}+|\s+/gu, ' ')
    .trim();
  return shown.length <= LIMIT ? shown : `${shown.slice(0, LIMIT - 1)}…`;
}
