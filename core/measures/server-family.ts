/** What a server's family becomes when it is published for one run. */
export interface ServerFamily {
  /** Name in Prometheus: base units, no colon (those are for recording rules), no type in it, `_total` for counters. */
  readonly name: string;
  /** The unit of the published values; null when nothing reports it. */
  readonly unit: string | null;
  /** The exposed value times this is the published one. */
  readonly factor: number;
}

const PREFIX = 'llmbench_server_';

const SCALES: readonly (readonly [base: string, scales: Readonly<Record<string, number>>])[] = [
  ['seconds', { milliseconds: 1e-3, microseconds: 1e-6, nanoseconds: 1e-9, minutes: 60, hours: 3600 }],
  [
    'bytes',
    { kilobytes: 1e3, megabytes: 1e6, gigabytes: 1e9, kibibytes: 2 ** 10, mebibytes: 2 ** 20, gibibytes: 2 ** 30 },
  ],
  ['ratio', { percent: 1e-2, permille: 1e-3 }],
  ['hertz', { megahertz: 1e6, gigahertz: 1e9 }],
  ['watts', { milliwatts: 1e-3 }],
  ['joules', { millijoules: 1e-3 }],
];

/** Units that are not base units, with the base unit and what an amount is multiplied by; rates of them as well. */
const BASE_UNITS: ReadonlyMap<string, readonly [unit: string, factor: number]> = new Map(
  SCALES.flatMap(([base, scales]) =>
    Object.entries(scales).flatMap(([unit, factor]) => [
      [unit, [base, factor]] as const,
      [`${unit}_per_second`, [`${base}_per_second`, factor]] as const,
    ]),
  ),
);

/** How a name states such a unit, or a short base unit. */
const UNIT_SUFFIX =
  /_(((s|ms|us|ns|[kmgt]i?b|[kmg]?hz|mw|mj|percent|perc|permille)(_(s|per_second))?)|([a-z]*(seconds|bytes|minutes|hours)(_per_second)?))$/i;
const SHORT_SECONDS = /(_per)?_s$/;
/** Prometheus keeps these endings for the samples of histograms, and `_info` for facts. */
const KEPT_ENDING = /_(count|sum|bucket|info)$/;
const TYPE_WORD = /^(counter|gauge|histogram|summary)$/i;

/** Name and unit of a family under the rules of Prometheus, whatever its server calls it. */
export function serverFamily(
  family: string,
  type: 'counter' | 'gauge' | 'histogram',
  exposed: string | null,
): ServerFamily {
  const [unit, factor] = BASE_UNITS.get(exposed ?? '') ?? [exposed, 1];
  const legal = family.replace(/[^0-9A-Za-z_]/g, '_').replace(/_total$/, '');
  const words = legal.split('_').filter((word) => !TYPE_WORD.test(word));
  const untyped = words.join('_');
  const named =
    factor === 1
      ? untyped.replace(SHORT_SECONDS, (_, per?: string) => (per === undefined ? '_seconds' : '_per_second'))
      : `${untyped.replace(UNIT_SUFFIX, '')}_${unit}`;
  const plain = named.replace(KEPT_ENDING, '_$1_value');
  return { name: `${PREFIX}${plain}${type === 'counter' ? '_total' : ''}`, unit, factor };
}
