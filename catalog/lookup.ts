import { catalogs, loadCatalogHead, systems } from './load.ts';
import type { Catalog, CatalogFamily, CatalogMetricType, FamilyMatch, CatalogHead } from './types.ts';

/** Ray exports the metrics of the engine inside it under its own prefix, in newer releases without colons. */
const WITHIN_RAY = /^ray_(vllm|sglang)[:_](.+)$/s;

/** Whether Ray exports the family: before the first request its page has none of the engine inside it. */
export const isOfRay = (name: string): boolean => name.startsWith('ray_');

/** Ray's default of `metrics_report_interval_ms`: how late its page may have what an engine inside it counted. */
export const RAY_REPORT_SECONDS = 10;

/**
 * The label `otel_scope_name` of what Ray exposes by OpenTelemetry, with which it records each observation of a histogram at the
 * middle of its bucket (`open_telemetry_metric_recorder.py` of Ray 2.60).
 */
export const RAY_RECORDER = 'ray._private.telemetry.open_telemetry_metric_recorder';

/**
 * The name that the engine itself gives to a family: without the prefix of Ray (`ray_vllm:num_requests_running`), and
 * with the colon of SGLang's engine, which its gateway writes as an underscore.
 */
export function nativeName(name: string): string {
  const [, engine, rest] = WITHIN_RAY.exec(name) ?? [];
  if (engine !== undefined) return `${engine}:${rest ?? ''}`;
  return name.startsWith('sglang_') ? `sglang:${name.slice('sglang_'.length)}` : name;
}

/** Families of TensorRT-LLM 1.1 and 1.2, whose names have no prefix, and their samples. */
const UNPREFIXED_TRTLLM =
  /^(request_success|(e2e_request_latency|time_to_first_token|time_per_output_token|request_queue_time)_seconds)(_(total|bucket|sum|count|created))?$/;

/**
 * How families are named on a page with these names of families or samples: as `nativeName`, and with the prefix that
 * TensorRT-LLM has since 1.3.0. NIM has the same names but for the time in the queue.
 */
export function namesOnPage(names: Iterable<string>): (name: string) => string {
  const all = [...names];
  const has = (family: string): boolean => all.some((name) => name === family || name.startsWith(`${family}_`));
  if (!has('request_queue_time_seconds') || !has('e2e_request_latency_seconds')) return nativeName;
  return (name) => (UNPREFIXED_TRTLLM.test(name) ? `trtllm_${name}` : nativeName(name));
}

/** What Prometheus' types append to a family's name in the names of its samples and of the families next to it. */
const SUFFIXES: Readonly<Record<CatalogMetricType, readonly string[]>> = {
  counter: ['_created'],
  gauge: [],
  histogram: ['_bucket', '_sum', '_count', '_created'],
  summary: ['_sum', '_count', '_created'],
  info: [],
};

/** Colons become underscores on some ways to Prometheus: both spellings are one family. */
const spelling = (name: string): string => name.replaceAll(':', '_');

const withoutTotal = (name: string): string => name.replace(/_total$/, '');

/**
 * Finds families by name in any spelling: `sglang:` or `sglang_`, counters with or without `_total`, gauges with
 * `_info` left out, and the names of samples (`_bucket`, `_sum`, `_count`, `_created`).
 */
export class FamilyIndex {
  readonly #byName = new Map<string, FamilyMatch[]>();
  readonly #byVariant = new Map<string, FamilyMatch[]>();

  constructor(indexed: readonly Catalog[]) {
    for (const catalog of indexed)
      for (const family of catalog.families) {
        add(this.#byName, spelling(family.name), { catalog, family });
        for (const variant of variantsOf(family)) add(this.#byVariant, variant, { catalog, family });
      }
  }

  /** Families of that name; only when there are none, those of which it is a variant. Empty when nothing fits. */
  find(name: string): readonly FamilyMatch[] {
    const wanted = spelling(nativeName(name));
    const known = (name: string): FamilyMatch[] | undefined => this.#byName.get(name) ?? this.#byVariant.get(name);
    const matches = known(wanted) ?? (UNPREFIXED_TRTLLM.test(wanted) ? known(`trtllm_${wanted}`) : undefined) ?? [];
    // The system whose name the family bears comes before those that show it as well.
    const isOwn = ({ catalog }: FamilyMatch): number => Number(wanted.startsWith(catalog.system));
    return matches.toSorted((a, b) => isOwn(b) - isOwn(a));
  }
}

function add(map: Map<string, FamilyMatch[]>, name: string, match: FamilyMatch): void {
  const matches = map.get(name);
  if (matches === undefined) map.set(name, [match]);
  else matches.push(match);
}

function variantsOf({ name, type }: CatalogFamily): Set<string> {
  const own = spelling(name);
  const bases = new Set([own, withoutTotal(own)]);
  const variants = new Set<string>();
  for (const base of bases) for (const suffix of SUFFIXES[type]) variants.add(base + suffix);
  if (type === 'counter') variants.add(own.endsWith('_total') ? withoutTotal(own) : `${own}_total`);
  if (own.endsWith('_info')) variants.add(own.slice(0, -'_info'.length));
  variants.delete(own);
  return variants;
}

let everything: FamilyIndex | null = null;

/** The families of all catalogs that have this name in any spelling: several when systems share it, empty when none. */
export function findFamilies(name: string): readonly FamilyMatch[] {
  everything ??= new FamilyIndex(catalogs());
  return everything.find(name);
}

const ORDER: readonly CatalogHead['role'][] = ['gateway', 'engine', 'layer', 'hardware'];

let heads: readonly CatalogHead[] | null = null;

/**
 * The systems whose families are among these names, gateways first, then engines, then what works inside them: a page
 * of Dynamo that passes vLLM's and LMCache's families through is `dynamo`, `vllm`, `lmcache`.
 */
export function systemsOfNames(names: Iterable<string>): string[] {
  heads ??= systems()
    .map(loadCatalogHead)
    .sort((a, b) => ORDER.indexOf(a.role) - ORDER.indexOf(b.role));
  const given = [...names];
  const all = given.map(namesOnPage(given));
  const any = (prefixes: readonly string[]): boolean =>
    all.some((name) => prefixes.some((prefix) => name.startsWith(prefix)));
  return heads
    .filter(
      ({ format, detect, detect_with, detect_without }) =>
        format !== 'json' &&
        any(detect) &&
        (detect_with === undefined || any(detect_with)) &&
        (detect_without === undefined || !any(detect_without)),
    )
    .map(({ system }) => system);
}
