import { type Load, stageText } from '../../../../core/run/load.ts';
import { ABSENT } from '../../../../core/text/quantities.ts';
import { shellCommand } from '../../../../core/text/shell-word.ts';
import { provenanceFacts } from '../../../../core/run/provenance.ts';
import type { RunFile } from '../../../../core/run/run.ts';
import { flattened } from '../../components/flattened.ts';

export interface ConfigurationFacts {
  stated: ReadonlyArray<readonly [name: string, text: string]>;
  /** Names of what was not set, or is not known. */
  notStated: readonly string[];
  /** The command that measures the same again; null: not known. */
  command: string | null;
}

/** The stages as `--stages` reads them. */
const loadFacts = (load: Load) => ({
  ...load,
  ...(load.stages && { stages: load.stages.map(stageText).join(',') }),
});

/** Everything in the fingerprint, and what the run was made of and measured on. */
export function configurationFacts(run: RunFile): ConfigurationFacts {
  const { measure_definitions: _definitions, ...key } = run.comparison_key;
  const facts: ConfigurationFacts['stated'] = [
    ['run_id', run.run_id],
    ...flattened(run.target.origin, 'target'),
    ...(run.group_id === null ? [] : flattened(run.group_id, 'group')),
    ...flattened({ ...key, load: key.load && loadFacts(key.load) }),
    ...flattened(run.dataset, 'dataset'),
    ...(run.provenance ? provenanceFacts(run.provenance) : []),
  ];
  return {
    stated: facts.filter(([, text]) => text !== ABSENT),
    notStated: facts.filter(([, text]) => text === ABSENT).map(([name]) => name),
    command: run.command_line && shellCommand(run.command_line),
  };
}
