import { percentText, significant } from '../text/quantities.ts';
import type { Sweep, LoadWithinObjective } from './sweep-shape.ts';

type Named = Pick<
  Sweep,
  | 'source'
  | 'start'
  | 'scenario'
  | 'model'
  | 'system'
  | 'system_version'
  | 'endpoint_type'
  | 'dataset'
  | 'tool'
  | 'tool_version'
  | 'origin'
  | 'load_mode'
>;

/** In the order in which they stand in a name. */
const PARTS: readonly ((sweep: Named) => string | null)[] = [
  ({ system, system_version }) => words(system, system_version),
  ({ model }) => model,
  ({ dataset }) => dataset,
  ({ load_mode }) => load_mode.replaceAll('_', ' '),
  ({ endpoint_type }) => endpoint_type,
  ({ origin }) => origin,
  ({ tool, tool_version }) => words(tool, tool_version),
  ({ scenario }) => scenario,
];

/**
 * The name of each sweep beside the others: what differs between them, else source and start. Sweeps that are still equal
 * have their start in addition.
 */
export function sweepNames(sweeps: readonly Named[]): readonly string[] {
  const [only] = sweeps;
  if (sweeps.length === 1 && only !== undefined) return [plainName(only)];
  const differing = PARTS.filter((part) => new Set(sweeps.map(part)).size > 1);
  const names = sweeps.map((sweep) => {
    const parts = differing.map((part) => part(sweep)).filter((part) => part !== null);
    return parts.length === 0 ? plainName(sweep) : parts.join(' · ');
  });
  return names.map((name, i) => {
    const sweep = sweeps[i];
    const isUnique = names.filter((other) => other === name).length === 1;
    return isUnique || sweep === undefined ? name : `${name} · ${startText(sweep) ?? sweep.source.name}`;
  });
}

/** What a sweep is called alone: its scenario, system and model. */
function plainName({ scenario, system, system_version, model }: Named): string {
  return [scenario, words(system, system_version), model].filter((part) => part !== null).join(' · ');
}

function words(...parts: readonly (string | null)[]): string | null {
  const known = parts.filter((part) => part !== null);
  return known.length === 0 ? null : known.join(' ');
}

const startText = ({ start }: Named): string | null => start && start.slice(0, 16).replace('T', ' ');

/** The range of the largest load within the objective: `met up to 64, not met from 128, 95 % confidence`. */
export function withinText({ holds, fails, monotonic, confidence }: LoadWithinObjective): string {
  return [
    holds === null ? nowhereText(fails) : `met up to ${significant(holds)}`,
    ...(fails === null ? [] : [`not met from ${significant(fails)}`]),
    ...(monotonic ? [] : ['met again above: not monotonic']),
    ...(confidence === undefined ? [] : [`${percentText(confidence)} confidence`]),
  ].join(', ');
}

const nowhereText = (fails: number | null): string => (fails === null ? 'undecided at every load' : 'met at no load');
