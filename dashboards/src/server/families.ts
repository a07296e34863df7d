import { labelsOf, loadCatalog } from '../../../catalog/load.ts';
import type { Catalog, CatalogFamily } from '../../../catalog/types.ts';

/** A family with all labels that its series may have. */
export interface Family extends CatalogFamily {
  readonly allLabels: readonly string[];
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
      this.#byName.set(family.name, { ...family, allLabels });
    }
  }

  /** @throws Error when no catalog has the name: a panel may only show what a server is known to expose */
  get(name: string): Family {
    const family = this.#byName.get(name);
    if (family === undefined) throw new Error(`no catalog has a family ${name}`);
    return family;
  }
}
