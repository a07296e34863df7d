import type { Option } from './options.ts';

const SECONDS_PER = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** `NAME=DURATION` such as `nightly=24h`, as seconds by name; the name may contain `=`. */
export function intervals(help: string): Option<ReadonlyMap<string, number>> {
  return {
    help,
    value: 'NAME=DURATION',
    multiple: true,
    parse: (given) => new Map(given.map(interval)),
    fallback: new Map(),
  };
}

function interval(given: string): readonly [name: string, seconds: number] {
  const [, name, number, unit] = /^(.+)=(\d+(?:\.\d+)?)([smhd])$/.exec(given) ?? [];
  const seconds = Number(number) * (SECONDS_PER[unit as keyof typeof SECONDS_PER] ?? NaN);
  if (name === undefined || !(seconds > 0)) throw new Error('NAME=DURATION with s, m, h or d, such as nightly=24h');
  return [name, seconds];
}
