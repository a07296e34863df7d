import type { FamilyIndex } from '../../catalog/lookup.ts';
import type { FamilyMatch } from '../../catalog/types.ts';
import type { Exposition, MetricType } from '../../core/exposition/index.ts';

/** A family of the page that a catalog of the page's systems describes. */
export interface KnownPageFamily extends FamilyMatch {
  /** As the page spells it; of several spellings the one that has a type. */
  readonly name: string;
  /** `unknown` when the page does not report. */
  readonly type: MetricType;
  readonly samples: number;
}

export interface PageFamily {
  readonly family: string;
  readonly type: MetricType;
  readonly samples: number;
}

export interface SortedPage {
  readonly known: readonly KnownPageFamily[];
  /** Families about the process (`process_`, `python_`, `go_`), which every program of that kind has. */
  readonly runtime: readonly PageFamily[];
  readonly unknown: readonly PageFamily[];
  /** `…_created` families that belong to another family of the page. */
  readonly creationTimes: number;
}

const RUNTIME = /^(process|python|go)_/;

/**
 * Sorts the families of a page by what is known of them. Spellings of one family are one: with a defect of
 * prometheus_client 0.23 to 0.26 the types are those of `sglang:x` and the samples those of `sglang_x`.
 */
export function sortFamilies(page: Exposition, index: FamilyIndex): SortedPage {
  const known = new Map<string, KnownPageFamily>();
  const runtime: PageFamily[] = [];
  const unknown: PageFamily[] = [];
  let creationTimes = 0;
  for (const { name, type, rows } of page.families) {
    const samples = rows.length;
    const [match] = index.find(name);
    if (isCreationTime(name, page)) creationTimes += 1;
    else if (match !== undefined) addKnown(known, { ...match, name, type, samples });
    else (RUNTIME.test(name) ? runtime : unknown).push({ family: name, type, samples });
  }
  return { known: [...known.values()], runtime, unknown, creationTimes };
}

function addKnown(known: Map<string, KnownPageFamily>, found: KnownPageFamily): void {
  const key = `${found.catalog.system} ${found.family.name}`;
  const before = known.get(key);
  if (before === undefined) known.set(key, found);
  else {
    const typed = before.type === 'unknown' ? found : before;
    known.set(key, { ...typed, samples: before.samples + found.samples });
  }
}

function isCreationTime(name: string, page: Exposition): boolean {
  if (!name.endsWith('_created')) return false;
  const base = name.slice(0, -'_created'.length);
  return page.family(base) !== undefined || page.family(`${base}_total`) !== undefined;
}
