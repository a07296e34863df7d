import { systemsOfNames } from '../../../catalog/detect.ts';
import { loadCatalog } from '../../../catalog/load.ts';
import { FamilyIndex } from '../../../catalog/lookup.ts';
import type { ObservationUnit } from '../../../catalog/types.ts';
import type { Collection } from '../collection.ts';
import type { FamilyFacts } from '../series/series.ts';
import { inferredUnit } from './units.ts';

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
