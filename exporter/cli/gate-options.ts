import type { Gates } from '../../core/run/gates.ts';
import { parseGoodput } from '../judge/goodput-grammar.ts';
import { GrammarError, parseSlo } from '../judge/slo-grammar.ts';
import { CliError } from './failure.ts';
import { text, texts, type Values } from './options.ts';

/** What a run has to meet. */
export const GATE_OPTIONS = {
  goodput: text(
    'LIMITS',
    'limits that make a request good: "ttft:300 itl:50", or with the whole names (milliseconds, tokens/s)',
    null,
  ),
  slo: texts(
    'SLO',
    'an objective of the run, exit 99 when not met: "ttft:p95<300ms", "error_ratio<=1%"; may be repeated',
  ),
};

/** Null when nothing was asked. Throws a `CliError`. */
export function requestedGates(options: Values<typeof GATE_OPTIONS>): Gates | null {
  const { goodput, slo } = options;
  if (goodput === null && slo.length === 0) return null;
  return {
    goodput: goodput === null ? [] : parsed('goodput', goodput, parseGoodput),
    slos: slo.map((each) => parsed('slo', each, parseSlo)),
  };
}

function parsed<T>(name: string, given: string, parse: (text: string) => T): T {
  try {
    return parse(given);
  } catch (error) {
    if (error instanceof GrammarError) throw new CliError(`--${name} ${error.message}`);
    throw error;
  }
}
