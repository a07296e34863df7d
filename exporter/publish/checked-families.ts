import type { FamilyInput } from '../../core/exposition/index.ts';

const NAME = /^[A-Za-z_:][0-9A-Za-z_:]*$/;

/**
 * The same families. Files of a run may come from anywhere: a unit or a number of theirs that is none must not end up as
 * lines of a page that has the runs of others too. Throws an `Error` that names what is wrong.
 */
export function checkedFamilies(families: FamilyInput[]): FamilyInput[] {
  for (const { name, samples } of families) {
    if (!NAME.test(name)) throw new Error(`${JSON.stringify(name)} cannot be the name of a metric`);
    const wrong = samples.find(({ value }) => typeof (value as unknown) !== 'number');
    if (wrong !== undefined) throw new Error(`a value of ${name} is no number`);
  }
  return families;
}
