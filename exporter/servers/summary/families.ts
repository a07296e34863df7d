import { systemsOfNames, FamilyIndex } from '../../../catalog/lookup.ts';
import { loadCatalog } from '../../../catalog/load.ts';
import type { ObservationUnit } from '../../../catalog/types.ts';
import { ownValue } from '../../../core/text/nearest-names.ts';
import type { Collection } from '../collection.ts';
import type { FamilyFacts } from '../series/series.ts';

/** Unit words in parentheses in a HELP text; case-sensitive. */
const TAGS: Readonly<Record<string, string>> = {
  MiB: 'mebibytes',
  GiB: 'gibibytes',
  KiB: 'kibibytes',
  B: 'bytes',
  MB: 'megabytes',
  GB: 'gigabytes',
  KB: 'kilobytes',
  TB: 'terabytes',
  C: 'celsius',
  '°C': 'celsius',
  F: 'fahrenheit',
  K: 'kelvin',
  Hz: 'hertz',
  MHz: 'megahertz',
  GHz: 'gigahertz',
  W: 'watts',
  mW: 'milliwatts',
  J: 'joules',
  mJ: 'millijoules',
  MJ: 'megajoules',
  s: 'seconds',
  sec: 'seconds',
  ms: 'milliseconds',
  ns: 'nanoseconds',
  us: 'microseconds',
  µs: 'microseconds',
  'GB/s': 'gb/s',
  'MB/s': 'mb/s',
  '%': 'percent',
  percent: 'percent',
};

const HELP_PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(in|\()\s*seconds\b/i, 'seconds'],
  [/\b(in|\()\s*(milliseconds|ms)\b/i, 'milliseconds'],
  [/\b(in|\()\s*(nanoseconds|ns)\b/i, 'nanoseconds'],
  [/\b(in|\()\s*bytes\b/i, 'bytes'],
  [/\bGB\/s\b/, 'gb/s'],
  [/\bMB\/s\b/, 'mb/s'],
  [/\btokens\/s(ec(ond)?)?\b|\btokens per second\b/i, 'tokens/s'],
  [/\brequests\/s(ec(ond)?)?\b|\brequests per second\b/i, 'requests/s'],
  [/\bin tokens\b/i, 'tokens'],
];

/** The longest match is used. */
const SUFFIXES: readonly (readonly [string, string])[] = (
  [
    ['_seconds', 'seconds'],
    ['_seconds_total', 'seconds'],
    ['_milliseconds', 'milliseconds'],
    ['_milliseconds_total', 'milliseconds'],
    ['_ms', 'milliseconds'],
    ['_ms_total', 'milliseconds'],
    ['_nanoseconds', 'nanoseconds'],
    ['_nanoseconds_total', 'nanoseconds'],
    ['_ns', 'nanoseconds'],
    ['_ns_total', 'nanoseconds'],
    ['_us', 'microseconds'],
    ['_us_total', 'microseconds'],
    ['_bytes', 'bytes'],
    ['_bytes_total', 'bytes'],
    ['_kilobytes', 'kilobytes'],
    ['_megabytes', 'megabytes'],
    ['_gigabytes', 'gigabytes'],
    ['_total', 'count'],
    ['_count', 'count'],
    ['_tokens', 'tokens'],
    ['_tokens_total', 'tokens'],
    ['_requests', 'requests'],
    ['_requests_total', 'requests'],
    ['_reqs', 'requests'],
    ['request_success', 'requests'],
    ['request_success_total', 'requests'],
    ['_errors', 'errors'],
    ['_errors_total', 'errors'],
    ['_error_count', 'errors'],
    ['_error_count_total', 'errors'],
    ['_blocks', 'blocks'],
    ['_blocks_total', 'blocks'],
    ['_block_count', 'blocks'],
    ['_block_count_total', 'blocks'],
    ['_gb_s', 'gb/s'],
    ['_ratio', 'ratio'],
    ['_percent', 'percent'],
    ['_perc', 'percent'],
    ['_celsius', 'celsius'],
    ['_joules', 'joules'],
    ['_watts', 'watts'],
  ] as const
).toSorted(([a], [b]) => b.length - a.length);

/**
 * The unit of a family that no catalog describes, in AIPerf's order: a scale in the HELP text (0 to 1, 0 to 100), a
 * unit word in it, the suffix of the name. Null: unknown.
 */
export function inferredUnit(name: string, help: string | null): string | null {
  return unitOfHelp(help ?? '') ?? unitOfName(name);
}

function unitOfHelp(help: string): string | null {
  if (/\b0(\.0+)?\s*(-|–|to)\s*1(\.0+)?\b(?![\d.])|\b1 (means|is|equals) 100 ?(%|percent)/i.test(help)) return 'ratio';
  if (/\b0(\.0+)?\s*(-|–|to)\s*100\b(?![\d.])/.test(help)) return 'percent';
  for (const [, word = ''] of help.matchAll(/\((?:in )?([^()\s]+)\)/g)) {
    if (Object.hasOwn(TAGS, word)) return ownValue(TAGS, word) ?? null;
  }
  return HELP_PATTERNS.find(([pattern]) => pattern.test(help))?.[1] ?? null;
}

function unitOfName(name: string): string | null {
  const suffix = SUFFIXES.find(([ending]) => name.endsWith(ending));
  if (suffix !== undefined) return suffix[1];
  return name.includes('num_requests_') ? 'requests' : null;
}

/** What is known about a family beyond its page. */
export interface FamilyDescription {
  /** Of the values as exposed. */
  readonly unit: string | null;
  /** What one observation of a histogram is. */
  readonly per: ObservationUnit | null;
  readonly description: string | null;
  /** Whether a catalog contains it. */
  readonly known: boolean;
}

/**
 * Describes the families of a collection: the unit comes from the page, else from the catalog, else from name and HELP.
 */
export function familyDescriber({ targets }: Collection): (family: FamilyFacts) => FamilyDescription {
  const names = new Set(targets.flatMap(({ store }) => store.series.map(({ family }) => family.name)));
  const iterations = targets.some(({ drains }) => drains) ? ['trtllm-iteration-stats'] : [];
  const index = new FamilyIndex([...systemsOfNames(names), ...iterations].map(loadCatalog));
  const described = new Map<FamilyFacts, FamilyDescription>();
  return (family) => {
    let description = described.get(family);
    if (description === undefined) {
      description = describe(family, index);
      described.set(family, description);
    }
    return description;
  };
}

function describe({ name, help, unit }: FamilyFacts, index: FamilyIndex): FamilyDescription {
  const known = index.find(name)[0]?.family;
  return {
    unit: unit ?? known?.unit ?? inferredUnit(name, help),
    per: known?.per ?? null,
    description: help ?? known?.help ?? null,
    known: known !== undefined,
  };
}
