import { parsedYaml } from './parsed-yaml.ts';
import type { ObservationUnit } from './types.ts';

export interface EquivalentFamily {
  readonly system: string;
  readonly family: string;
  /** The series of the family that count, when not all do. */
  readonly labels?: Readonly<Record<string, string>>;
  /** What the series with these labels count, when that is not the unit of the family. */
  readonly unit?: string;
  /** A counter that gives the sum of the histogram and no distribution. */
  readonly only?: 'sum';
  /** Where it still differs from the definition. */
  readonly note?: string;
}

/** A quantity that several systems expose, with one definition. The keys are described in `equivalents.schema.json`. */
export interface Quantity {
  readonly quantity: string;
  readonly definition: string;
  readonly unit: string;
  readonly kind: 'histogram' | 'counter' | 'gauge';
  /** Histograms: what one observation is, of each family alike. */
  readonly per?: Exclude<ObservationUnit, 'operation' | 'unknown'>;
  /** The client's measure of the same definition, seen from outside. */
  readonly measure?: string;
  readonly families: readonly EquivalentFamily[];
}

let vocabulary: readonly Quantity[] | null = null;

/** The vocabulary that all systems share. */
export function quantities(): readonly Quantity[] {
  vocabulary ??= parsedYaml(new URL('./equivalents.yaml', import.meta.url)) as Quantity[];
  return vocabulary;
}

/** The quantities to which a family belongs. */
export function quantitiesOf(system: string, family: string): Quantity[] {
  return quantities().filter((quantity) =>
    quantity.families.some((member) => member.system === system && member.family === family),
  );
}
