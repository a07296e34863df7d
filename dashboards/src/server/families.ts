import { labelsOf, loadCatalog } from '../../../catalog/load.ts';
import type { Catalog, CatalogEndpoint, CatalogFamily } from '../../../catalog/types.ts';

/** A family with all labels that its series may have. */
export interface Family extends CatalogFamily {
  readonly allLabels: readonly string[];
  /** The catalog that has it. */
  readonly system: string;
  /** The page that it is on. */
  readonly page: FamilyPage;
}

export interface FamilyPage {
  /** What the system is called. */
  readonly title: string;
  /** Port and path that it has by default. */
  readonly endpoint: CatalogEndpoint;
  /** What switches the page on; null: nothing has to. */
  readonly switch: string | null;
}

/** Finds the families of the given systems by name; of two systems that share a name, the first has it. */
export class Families {
  readonly #byName = new Map<string, Family>();

  constructor(systems: readonly string[]) {
    for (const catalog of systems.map(loadCatalog)) this.#add(catalog);
  }

  #add(catalog: Catalog): void {
    for (const family of catalog.families) {
      if (this.#byName.has(family.name)) continue;
      const allLabels = [...labelsOf(catalog, family), ...(family.optional_labels ?? [])];
      this.#byName.set(family.name, { ...family, allLabels, system: catalog.system, page: pageOf(catalog, family) });
    }
  }

  /** @throws Error when no catalog has the name: a panel may only show what a server is known to expose */
  get(name: string): Family {
    const family = this.#byName.get(name);
    if (family === undefined) throw new Error(`no catalog has a family ${name}`);
    return family;
  }
}

function pageOf(
  { title, default_endpoint, other_endpoints = [], switches = [] }: Catalog,
  family: CatalogFamily,
): FamilyPage {
  const part = family.part?.replaceAll('_', '-');
  const ofPart = part === undefined ? undefined : other_endpoints.find(({ note }) => note?.startsWith(part) === true);
  const whole = switches.find(({ gives }) => /^(the page|\/prometheus\/metrics) itself(?!.*default)/.test(gives));
  return { title, endpoint: ofPart ?? default_endpoint, switch: whole?.name ?? null };
}
