import { NO_FAULTS, type FaultPlan, type Refusal } from './plan.ts';

/** One key of a fault: a number within a range. */
interface FaultKey {
  /** What a plan calls it. */
  readonly as: string;
  readonly min: number;
  readonly max: number;
  readonly integer?: true;
  /** Value when it is not given; null: none. */
  readonly fallback: number | null;
}

interface Fault {
  /** Where a plan has it. */
  readonly field: keyof FaultPlan;
  readonly keys: Readonly<Record<string, FaultKey>>;
  /** Of a refusal. */
  readonly status?: Refusal['status'];
}

const DAY = 86_400;
const after = (fallback: number): FaultKey => ({ as: 'afterSeconds', min: 0, max: DAY, fallback });
const seconds = (fallback: number): FaultKey => ({ as: 'seconds', min: 0.001, max: DAY, fallback });
const EVERY: FaultKey = { as: 'everySeconds', min: 0.001, max: DAY, fallback: null };
const share = (as: string, fallback: number): FaultKey => ({ as, min: 0, max: 1, fallback });
const count = (as: string, fallback: number): FaultKey => ({ as, min: 0, max: 1_000_000, integer: true, fallback });
const factor = (fallback: number, max: number): FaultKey => ({ as: 'factor', min: 1, max, fallback });

const IN_STREAM = { rate: share('rate', 0.1), 'after-tokens': count('afterTokens', 5) };
const REFUSING = {
  ...{ after: after(5), seconds: seconds(5), every: EVERY, rate: share('rate', 1) },
  'retry-after': { ...after(1), as: 'retryAfterSeconds' },
};

/** The faults that can be requested, by name. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'slow-start': { field: 'slowStart', keys: { seconds: seconds(10) } },
  stall: { field: 'stall', keys: { after: after(5), seconds: seconds(2), every: EVERY } },
  reset: { field: 'reset', keys: IN_STREAM },
  malformed: { field: 'malformed', keys: IN_STREAM },
  'http-429': { field: 'refusals', keys: REFUSING, status: 429 },
  'http-503': { field: 'refusals', keys: REFUSING, status: 503 },
  restart: {
    field: 'restart',
    keys: { after: after(10), seconds: seconds(2), every: EVERY, worker: count('worker', 0) },
  },
  slowdown: { field: 'slowdown', keys: { factor: factor(1.5, 1000) } },
  'kv-pressure': { field: 'kvPressure', keys: { ratio: { as: 'ratio', min: 0.001, max: 1, fallback: 0.05 } } },
  'slow-kv-tier': { field: 'slowKvTier', keys: { factor: factor(20, 100_000) } },
  'hot-worker': { field: 'hotWorker', keys: { worker: count('worker', 0), share: share('share', 0.8) } },
};

/**
 * Reads faults as they stand on the command line, `name[:key=value,…]` each: `stall:after=5,seconds=2`.
 *
 * @throws Error that says in one line what was expected, beginning so that "must be" fits before it
 */
export function parseFaults(texts: readonly string[]): FaultPlan {
  return texts.reduce((plan, text) => {
    const { name, fault, pairs } = split(text);
    if (pairs.some(({ key }) => !Object.hasOwn(fault.keys, key))) {
      throw new Error(`${name} with no keys but ${Object.keys(fault.keys).join(', ')}`);
    }
    const entries = Object.entries(fault.keys).map(([key, rule]) => {
      const given = pairs.findLast((pair) => pair.key === key);
      return [rule.as, given === undefined ? rule.fallback : readNumber(given.value, rule, `${name} with ${key}`)];
    });
    const values = Object.fromEntries(entries) as Omit<Refusal, 'status'>;
    const { field, status } = fault;
    // Refusals are combined; of any other fault the last one applies.
    const added = status === undefined ? values : [...plan.refusals, { ...values, status }];
    return checked({ ...plan, [field]: added }, name);
  }, NO_FAULTS);
}

function split(text: string): { name: string; fault: Fault; pairs: { key: string; value: string }[] } {
  const colon = text.indexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  const fault = Object.hasOwn(FAULTS, name) ? FAULTS[name] : undefined;
  if (fault === undefined) throw new Error(`one of ${Object.keys(FAULTS).join(', ')}`);
  const rest = colon < 0 ? [] : text.slice(colon + 1).split(',');
  const pairs = rest.map((pair) => {
    const [key = '', value, ...more] = pair.split('=');
    if (value === undefined || more.length > 0)
      throw new Error(`${name} with key=value after the colon, not '${pair}'`);
    return { key, value };
  });
  return { name, fault, pairs };
}

function readNumber(text: string, { min, max, integer }: FaultKey, what: string): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (!(value >= min && value <= max) || (integer && !Number.isInteger(value))) {
    throw new Error(`${what} a ${integer ? 'whole ' : ''}number from ${min} to ${max}`);
  }
  return value;
}

/** What comes again must have ended before. */
function checked(plan: FaultPlan, name: string): FaultPlan {
  for (const window of [plan.stall, plan.restart, ...plan.refusals]) {
    if (window !== null && window.everySeconds !== null && window.everySeconds <= window.seconds) {
      throw new Error(`${name} with every longer than seconds`);
    }
  }
  return plan;
}
