/** A word as a POSIX shell reads it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Words as a command for a POSIX shell. */
export const shellCommand = (words: readonly string[]): string => words.map(quoted).join(' ');
