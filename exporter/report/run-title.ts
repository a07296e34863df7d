import { loadText } from '../../core/run/load.ts';
import type { RunFile } from '../../core/run/run.ts';

/** A run in a title: scenario, model and load, without what is not known. */
export function runTitle({ scenario, comparison_key: { model, load } }: RunFile): string {
  return [scenario, model, load && loadText(load)].filter((part) => part !== null).join(', ');
}
