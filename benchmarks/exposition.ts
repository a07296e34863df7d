import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inTurn, type Bench, type BenchContext, type Row } from './bench.ts';
import { jsonLines, numberOf, runProgram } from './child-program.ts';
import { peer } from './workshop.ts';

const PARSER = fileURLToPath(new URL('exposition-parser.ts', import.meta.url));
/** Pages made from the catalog, and their size in MB. */
const PAGES = { vllm: 0.12, sglang: 0.3, big: 10 } as const;

/** The names under which the programs report. */
const OURS = 'llmbench';
const PYTHON = 'python prometheus_client';
const EXPFMT = 'go expfmt (metric families)';
const TEXTPARSE = 'go textparse + labels';

interface Parsing {
  readonly cpu_ms: number;
  /** Samples, or what else the parser counts. */
  readonly n: number;
}

/** One per round, by the parser's name. */
type Measured = ReadonlyMap<string, readonly Parsing[]>;

/**
 * The question: what does reading a page of `/metrics` cost?
 * Compared, by CPU time on the same pages: our parser with Python's prometheus_client, Go's expfmt and Prometheus'
 * own textparse.
 * It does not show: the cost of HTTP, or of what is done with the samples; the pages' label values repeat more than real
 * ones may.
 */
export const exposition: Bench = {
  name: 'exposition',
  question: 'what does parsing a page of /metrics cost?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const pages = await context.workshop.expositionPages();
    const remarks = sayingOnce(context);
    const rows: Row[] = [];
    for (const [page, size_mb] of Object.entries(PAGES)) {
      const measured = await measuredPage(join(pages, page), remarks);
      checkSamples(page, measured, context);
      rows.push(...rowsOf(`${page}, ${size_mb} MB`, measured));
    }
    return rows;
  },
};

/** What is not available for one page is not available for the others. */
function sayingOnce(context: BenchContext): BenchContext {
  const skipped = new Set<string>();
  return {
    ...context,
    skipped: (what, reason) => {
      if (!skipped.has(what)) context.skipped(what, reason);
      skipped.add(what);
    },
  };
}

async function measuredPage(prefix: string, context: BenchContext): Promise<Measured> {
  const { workshop } = context;
  const measured = await inTurn(
    context.rounds,
    {
      [PYTHON]: async () => program(await workshop.python(), [peer('exposition.py'), prefix]),
      'Go parsers': async () => program(await workshop.compiledGo('exposition-go'), [prefix]),
      [OURS]: () => program(process.execPath, [PARSER, prefix]),
    },
    context,
  );
  const byParser = new Map<string, Parsing[]>();
  for (const results of measured.values()) {
    for (const [name, parsing] of results.flat()) byParser.set(name, [...(byParser.get(name) ?? []), parsing]);
  }
  return byParser;
}

/** Each parser that the program measures. */
async function program(command: string, args: readonly string[]): Promise<(readonly [string, Parsing])[]> {
  const { stdout } = await runProgram(command, args);
  return jsonLines(stdout).map(
    (line) => [String(line.name), { cpu_ms: numberOf(line, 'cpu_ms'), n: numberOf(line, 'n') }] as const,
  );
}

/** Who finds other samples than ours did other work. */
function checkSamples(page: string, measured: Measured, context: BenchContext): void {
  const ours = measured.get(OURS)?.[0]?.n;
  if (ours === undefined) return;
  for (const name of [PYTHON, TEXTPARSE]) {
    const n: number = measured.get(name)?.[0]?.n ?? ours;
    if (n !== ours) context.failed(page, `${name} finds ${n} samples, ours ${ours}`);
  }
}

function rowsOf(page: string, measured: Measured): Row[] {
  const row = (peerName: string, peer: string, atMost: number): Row[] => {
    const [ours, theirs] = [measured.get(OURS), measured.get(peer)];
    if (ours === undefined || theirs === undefined) return [];
    const cpu = ({ cpu_ms }: Parsing): number => cpu_ms;
    const target = { by: 'ratio', atMost } as const;
    return [
      { what: `${page}: llmbench ÷ ${peerName}`, unit: 'ms', ours: ours.map(cpu), peer: theirs.map(cpu), target },
    ];
  };
  return [
    ...row('Python prometheus_client', PYTHON, 0.1),
    ...row('Go expfmt', EXPFMT, 0.25),
    ...row("Prometheus' textparse", TEXTPARSE, 1.5),
  ];
}
