import type { BucketOption } from '../../../core/histogram/bucket-setting.ts';
import histogramFamilies from './histogram-families.json';

/** A histogram family as the catalog describes it. */
export interface CatalogHistogram {
  name: string;
  /** Of the values as exposed. */
  unit: string;
  /** What one observation is; null: the catalog has no statement. */
  per: string | null;
  help: string;
  /** The quantity that other systems expose too. */
  quantity: string | null;
}

/** A kind of server with its histograms and the options that set their bounds. */
export interface HistogramSystem {
  system: string;
  title: string;
  /** Prefixes of family names by which a page is recognized. */
  detect: string[];
  /** One of these must be there as well. */
  detect_with: string[] | null;
  /** None of these may be there. */
  detect_without: string[] | null;
  /** Beginnings of names of histograms by which servers are found. */
  presence: string[];
  /** Empty: the server has none; null: not known. */
  bucket_options: BucketOption[] | null;
  /** Histograms of which it is not known whether an option sets their bounds. */
  bucket_options_unknown: string[];
  families: CatalogHistogram[];
}

/** A family with the system that it belongs to. */
export interface KnownHistogram {
  system: HistogramSystem;
  family: CatalogHistogram;
}

/** Gateways first, then engines and what works inside them. Generated from the catalogs. */
export const SYSTEMS = histogramFamilies.systems as unknown as readonly HistogramSystem[];

/** A histogram of each page that may be scraped: the client's, and each server's. */
export const FIRST_TOKEN_HISTOGRAMS: readonly string[] = [
  'llmbench_time_to_first_token_seconds',
  ...new Set(
    SYSTEMS.flatMap(({ families }) => families.filter(({ quantity }) => quantity === 'time_to_first_token')).map(
      ({ name }) => name
    )
  ),
];

/** The systems whose families are among the names of a server. */
export function systemsOfServer(names: readonly string[]): HistogramSystem[] {
  const all = names.map(nativeName);
  const any = (prefixes: readonly string[]) =>
    all.some((name) => prefixes.some((prefix) => name.startsWith(nativeName(prefix))));
  return SYSTEMS.filter(
    ({ detect, detect_with, detect_without }) =>
      any(detect) && (detect_with === null || any(detect_with)) && (detect_without === null || !any(detect_without))
  );
}

/** Finds the family of a name among the systems of a server; null: no catalog describes it. */
export function knownHistogram(systems: readonly HistogramSystem[], name: string): KnownHistogram | null {
  for (const system of systems) {
    const family = system.families.find((one) => nativeName(one.name) === nativeName(name));
    if (family) {
      return { system, family };
    }
  }
  return null;
}

/** Colons become underscores on some ways to Prometheus, and Ray puts its prefix in front: one family. */
function nativeName(name: string): string {
  return name.replace(/^ray_(?=(vllm|sglang)[:_])/, '').replaceAll(':', '_');
}
