/** Whether a text of `since` or `until` is the number of a release, and not a date. */
export function isVersion(text: string | undefined): text is string {
  return text !== undefined && /^\d{1,3}\.\d/.test(text);
}

/** Below 0 when the first release came before the second. `0.8` is the first of 0.8.x. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [numbersOf(a), numbersOf(b)];
  const length = Math.max(first.length, second.length);
  for (let place = 0; place < length; place += 1) {
    const difference = (first[place] ?? 0) - (second[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A regular expression for the releases before this one, with or without the parts that a release may add. */
export function releasesBefore(version: string): string {
  const parts = numbersOf(version);
  const alternatives = parts.flatMap((part, place) => {
    const same = parts.slice(0, place).map((number) => `${number}\\.`);
    return numbersBelow(part).map((numbers) => same.join('') + numbers);
  });
  return `(${alternatives.join('|')})([^0-9].*)?`;
}

function numbersOf(version: string): number[] {
  return [...version.matchAll(/(?<=^|\.)\d+/g)].map(Number);
}

/** `[0-9]`, `1[0-9]` and `2[0-3]` for 24. */
function numbersBelow(limit: number): string[] {
  const tens = Math.floor(limit / 10);
  const whole = Array.from({ length: tens }, (_, ten) => `${ten === 0 ? '' : ten}[0-9]`);
  const last = limit % 10;
  const digits = last === 1 ? '0' : `[0-${last - 1}]`;
  return last === 0 ? whole : [...whole, `${tens === 0 ? '' : tens}${digits}`];
}
