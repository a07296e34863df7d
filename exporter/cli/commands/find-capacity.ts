import { COST_MEASURES } from '../../../core/measures/energy-results.ts';
import type { CapacityFile, CapacityProbe } from '../../../core/run/capacity.ts';
import { joinedEvents, type RunEvents } from '../../../core/run/run-output.ts';
import { scalarOf, type ScalarResult } from '../../../core/run/result.ts';
import { shellCommand } from '../../../core/text/words.ts';
import { checkLoad } from '../../run/planned-load.ts';
import { findCapacity, type CapacitySearch } from '../../run/find/find-capacity.ts';
import { Departures } from '../../run/run-group.ts';
import { measureRun } from '../../run/perform-run.ts';
import type { RunHost } from '../../run/run-context.ts';
import type { RunRequest } from '../../run/run-request.ts';
import { readCapacity, writeCapacity } from '../../store/scenarios/capacity-files.ts';
import { CliError, ExitCode } from '../failure.ts';
import { requestedFind, requestedSearch } from '../options/find-options.ts';
import type { GivenArguments, GivenValues } from '../options/options.ts';
import type { RunOptions } from '../options/run-options.ts';
import type { RunStore } from '../../store/run-store.ts';
import { printing } from '../terminal-text.ts';
import { Session, withUpload } from '../session.ts';
import { costFacts } from '../tables/result-table.ts';
import { requestText } from '../tables/group-table.ts';
import { shownArguments } from '../options/public-value.ts';
import { VERSION } from '../version.ts';
import { modelSource } from './model-source.ts';
import { storeOf } from './runs/stored-runs.ts';
import { quantity, significant } from '../../../core/text/quantities.ts';
import { columnBlocks, factLines, TO_FILE, type Print } from '../tables/layout.ts';

/** `run --find`: searches the capacity and prints it: the runs are chosen while they are made. */
export async function find(argv: readonly string[], found: GivenArguments): Promise<number> {
  const { options, given } = await requestedFind(found, modelSource(process.env));
  const session = new Session(options);
  const exitCode = await session.use(async () => {
    await session.openUploads();
    return searched(options, given, argv, session);
  });
  return withUpload(exitCode, await session.upload());
}

async function searched(
  options: RunOptions,
  given: GivenValues,
  argv: readonly string[],
  session: Session,
): Promise<number> {
  const { controls, say, sayOnce } = session;
  const search = requestedSearch(options, given);
  checkSearchedLoads(search, options.yes);
  const store = await storeOf(options['runs-dir']);
  const previous = await readCapacity(store.directory, search.scenario, search.groupId);
  if (previous !== null) refuseOther(search, previous);
  say(announcement(search, previous));
  const departures = new Departures();
  let latest = previous;
  try {
    latest = await findCapacity(search, previous, controls, {
      announce: (_probe, request) => say(`\nprobe ${request.runId ?? ''}: ${requestText(request)}`),
      perform: async (request, own, observer) => {
        await departures.room();
        const { departure, ...run } = await measureRun(
          session.uploaded(request),
          own,
          observed(session.host(withoutEnd(request)), observer),
          VERSION,
        );
        departures.add(departure);
        return run;
      },
      finished: (probe, { notes }) => {
        notes.forEach(sayOnce);
        say(probeLine({ load: search.range.load, objectives: search.objectives }, probe));
      },
      save: async (file) => {
        latest = file;
        await writeCapacity(store.directory, file);
      },
    });
  } finally {
    session.waiting();
    await departures.settled();
    if (latest !== null) {
      show(latest, options, argv, say);
      if (!options.json && options['gpu-hour-price'] !== null) say(await costAtCapacity(latest, store));
    }
  }
  for (const [line, runs] of await departures.all()) say(runs > 1 ? `${line} (${runs} runs)` : line);
  return latest === null ? ExitCode.failed : exitCodeOf(latest, options['slo-undecided'] === 'fail');
}

/** For the progress display: a probe ends when it is decided, long before its limits. */
const withoutEnd = (request: RunRequest): RunRequest => ({
  ...request,
  measure: { ...request.measure, requestCount: null, durationSeconds: null },
});

/** The highest load counts, and that there are several. Throws an `ExpectedError`. */
function checkSearchedLoads(search: CapacitySearch, confirmed: boolean): void {
  const allowance = { requests: Infinity, outputTokens: Infinity, seconds: Infinity };
  const highest = { load: search.range.max, step: 0, repeat: 0, number: 0, requestCount: null, allowance };
  checkLoad(search.request(highest), 2, confirmed);
}

/** Throws a `CliError` when the search of that name has other objectives or another load. */
function refuseOther({ groupId, range, objectives, model }: CapacitySearch, previous: CapacityFile): void {
  const asked = (file: Pick<CapacityFile, 'load' | 'model' | 'objectives'>): string =>
    `--find ${file.load.replace('_', '-')}, --model ${file.model}, --slo ${file.objectives.map(({ text }) => text).join(', ')}`;
  const now = asked({ load: range.load, model, objectives });
  if (now === asked(previous)) return;
  throw new CliError(
    `--run-id ${groupId} is a search with ${asked(previous)}, this one has ${now}: use the same options or another --run-id`,
  );
}

function announcement({ groupId, range, objectives, scenario }: CapacitySearch, previous: CapacityFile | null): string {
  const texts = objectives.map(({ text }) => text).join(' and ');
  const done = previous === null ? '' : `; ${previous.probes.length} probes are finished`;
  const unit = range.load === 'concurrency' ? 'concurrency' : 'request rate';
  return `search ${groupId} (scenario ${scenario}): the largest ${unit} from ${range.start} to ${range.max} at which ${texts}${done}`;
}

function observed(host: RunHost, observer: RunEvents): RunHost {
  return {
    ...host,
    observe: (epoch, servers) => {
      const shown = host.observe(epoch, servers);
      return { ...joinedEvents([shown, observer]), stop: () => shown.stop() };
    },
  };
}

function show(file: CapacityFile, options: RunOptions, argv: readonly string[], say: (line: string) => void): void {
  if (options.json) process.stdout.write(`${JSON.stringify(file, null, 2)}\n`);
  else process.stdout.write(`\nsearch      ${file.group_id}\n${capacityTable(file, printing())}\n`);
  if (file.end !== 'budget' && file.end !== 'interrupted' && file.end !== 'failed') return;
  const resume = shellCommand([
    ...['llmbench', 'run', ...shownArguments(argv)],
    ...(options['run-id'] === null ? ['--run-id', file.group_id] : []),
  ]);
  const condition = file.end === 'budget' ? ' with a larger budget' : '';
  say(`the search is not complete; to continue it${condition}: ${resume}`);
}

/** What a million tokens cost at the largest load that holds: the mean of its probes. */
async function costAtCapacity({ holds, probes }: CapacityFile, store: RunStore): Promise<string> {
  const results = await Promise.all(
    probes.filter(({ load }) => load === holds).map(({ run_id }) => store.readResult(run_id)),
  );
  const means = Object.values(COST_MEASURES).map(({ measure }): ScalarResult | undefined => {
    const found = results.flatMap(({ measures }) => scalarOf(measures, measure) ?? []);
    const known = found.flatMap(({ value }) => value ?? []);
    return found[0] && { ...found[0], value: known.length === 0 ? null : known.reduce((a, b) => a + b) / known.length };
  });
  const [[, text] = ['', 'unknown: no load holds']] = costFacts(means.filter((mean) => mean !== undefined));
  return `cost at capacity: ${text}`;
}

/** That no load holds is a gate that is not met; a search that found nothing at all must not pass one. */
function exitCodeOf({ end, holds, fails }: CapacityFile, failUndecided: boolean): number {
  if (end === 'interrupted') return ExitCode.interrupted;
  if (end === 'failed' || (holds === null && fails === null)) return ExitCode.failed;
  if (end === 'none_holds') return ExitCode.gate;
  const isOpen = end === 'undecided' || end === 'not_monotonic' || end === 'budget';
  return isOpen && failUndecided ? ExitCode.gate : ExitCode.done;
}

const LOAD_TITLES = { concurrency: 'concurrency', request_rate: 'requests/s' } as const;

/** The probes of a search by load, one line each, and the response. */
export function capacityTable(file: CapacityFile, { width, paint }: Print = TO_FILE): string {
  const probes = [...file.probes].sort((a, b) => a.load - b.load || a.repeat - b.repeat);
  const head = [LOAD_TITLES[file.load], 'verdict', ...file.objectives.map(({ text }) => text), 'n', 'sent', 'time'];
  const rows = probes.map((probe) => [
    String(probe.load),
    verdictText(probe),
    ...probe.objectives.map(({ value }, i) => quantity(value, file.objectives[i]?.unit ?? 'ratio')),
    significant(Math.min(...probe.objectives.map(({ n }) => n))),
    significant(probe.requests),
    quantity(probe.seconds, 'seconds'),
  ]);
  const { requests, seconds, output_tokens: tokens } = file.used;
  const notes = probes.flatMap(({ why, verdict, load }) =>
    why === null || verdict === 'holds' ? [] : [`${LOAD_TITLES[file.load]} ${load}: ${why}`],
  );
  return [
    ...columnBlocks(
      head.map((name, i) => ({ head: [name], cells: rows.map((row) => row[i] ?? '') })),
      width,
      paint,
    ),
    ...new Set(notes),
    ...(probes.some(({ conclusive }) => !conclusive)
      ? ['holds?: enough to choose the next load, not to confirm this one']
      : []),
    '',
    `used        ${significant(requests)} requests, ${significant(tokens)} output tokens, ${quantity(seconds, 'seconds')}`,
    ...factLines('capacity', file.sentence, width),
    ...clientLines(file).flatMap((text) => factLines('client', text, width)),
  ].join('\n');
}

/** A client that is late can make a load fail, but not hold. */
function clientLines({ probes, fails, load }: CapacityFile): string[] {
  const late = probes.filter(({ client, verdict }) => client === 'saturated' && verdict === 'fails');
  if (fails === null || !late.some((probe) => probe.load === fails)) return [];
  return [
    `saturated at ${LOAD_TITLES[load]} ${fails}, which fails: the capacity may be that of the client; use more --workers or another machine`,
  ];
}

/** One probe, when it has ended. */
export function probeLine(file: Pick<CapacityFile, 'load' | 'objectives'>, probe: CapacityProbe): string {
  const values = probe.objectives.map(({ value, n }, i) => {
    const { text = '', unit = 'ratio' } = file.objectives[i] ?? {};
    return `${text}: ${quantity(value, unit)} (n = ${n})`;
  });
  const why = probe.why === null || probe.verdict === 'holds' ? '' : `; ${probe.why}`;
  const client = probe.client === 'saturated' ? '; client saturated' : '';
  return `${LOAD_TITLES[file.load]} ${probe.load} ${verdictText(probe)}; ${values.join(', ')}${why}${client}`;
}

/** A verdict that has to be confirmed has a question mark. */
const verdictText = ({ verdict, conclusive }: CapacityProbe): string => `${verdict}${conclusive ? '' : '?'}`;
