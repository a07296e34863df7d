const INSTANT = /^(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?$/;
const ORIGIN_SECONDS = Date.UTC(2020, 0, 1) / 1000;

let lastSecond = '';
let lastSeconds = NaN;

/** Nanoseconds since 2020, exact to 32 ns in this decade; without a zone in UTC. NaN when the text is no time. */
export function instant_ns(text: string): number {
  const [, second, fraction = '', zone = 'Z'] = INSTANT.exec(text) ?? [];
  if (second === undefined) return NaN;
  // Neighboring rows are often of one second, and parsing it is slow.
  if (second + zone !== lastSecond) {
    lastSecond = second + zone;
    lastSeconds = Date.parse(`${second.replace(' ', 'T')}${zone}`) / 1000 - ORIGIN_SECONDS;
  }
  return lastSeconds * 1e9 + Number(fraction.padEnd(9, '0'));
}
