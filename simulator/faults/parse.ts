import { NO_FAULTS, type FaultPlan, type Refusal } from './plan.ts';

/** One key of a fault: a number within a range. */
interface FaultKey {
  readonly min: number;
  readonly max: number;
  readonly integer?: true;
  /** Value when it is not given; null: none. */
  readonly fallback: number | null;
}

interface Fault {
  readonly keys: Readonly<Record<string, FaultKey>>;
  /** Puts it into a plan. A key without value and fallback is absent. */
  readonly add: (plan: FaultPlan, values: Readonly<Record<string, number | null>>) => FaultPlan;
}

const DAY = 86_400;
const seconds = (fallback: number | null): FaultKey => ({ min: 0.001, max: DAY, fallback });
const after = (fallback: number): FaultKey => ({ min: 0, max: DAY, fallback });
const share = (fallback: number): FaultKey => ({ min: 0, max: 1, fallback });
const count = (fallback: number): FaultKey => ({ min: 0, max: 1_000_000, integer: true, fallback });

type Values = Parameters<Fault['add']>[1];
const number = (values: Values, key: string): number => values[key] ?? 0;

const windowOf = (values: Values) => ({
  afterSeconds: number(values, 'after'),
  seconds: number(values, 'seconds'),
  everySeconds: values['every'] ?? null,
});

const streamFault = (values: Values) => ({ rate: number(values, 'rate'), afterTokens: number(values, 'after-tokens') });

function refusing(status: Refusal['status']): Fault {
  return {
    keys: { after: after(5), seconds: seconds(5), every: seconds(null), rate: share(1), 'retry-after': after(1) },
    add: (plan, values) => {
      const refusal = { ...windowOf(values), status, rate: number(values, 'rate') };
      return {
        ...plan,
        refusals: [...plan.refusals, { ...refusal, retryAfterSeconds: number(values, 'retry-after') }],
      };
    },
  };
}

/** The faults that can be requested, by name. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'slow-start': {
    keys: { seconds: seconds(10) },
    add: (plan, values) => ({ ...plan, slowStart: { seconds: number(values, 'seconds') } }),
  },
  stall: {
    keys: { after: after(5), seconds: seconds(2), every: seconds(null) },
    add: (plan, values) => ({ ...plan, stall: windowOf(values) }),
  },
  reset: {
    keys: { rate: share(0.1), 'after-tokens': count(5) },
    add: (plan, values) => ({ ...plan, reset: streamFault(values) }),
  },
  malformed: {
    keys: { rate: share(0.1), 'after-tokens': count(5) },
    add: (plan, values) => ({ ...plan, malformed: streamFault(values) }),
  },
  'http-429': refusing(429),
  'http-503': refusing(503),
  restart: {
    keys: { after: after(10), seconds: seconds(2), every: seconds(null), worker: count(0) },
    add: (plan, values) => ({ ...plan, restart: { ...windowOf(values), worker: number(values, 'worker') } }),
  },
  slowdown: {
    keys: { factor: { min: 1, max: 1_000, fallback: 1.5 } },
    add: (plan, values) => ({ ...plan, slowdown: { factor: number(values, 'factor') } }),
  },
  'kv-pressure': {
    keys: { ratio: { min: 0.001, max: 1, fallback: 0.05 } },
    add: (plan, values) => ({ ...plan, kvPressure: { ratio: number(values, 'ratio') } }),
  },
  'slow-kv-tier': {
    keys: { factor: { min: 1, max: 100_000, fallback: 20 } },
    add: (plan, values) => ({ ...plan, slowKvTier: { factor: number(values, 'factor') } }),
  },
  'hot-worker': {
    keys: { worker: count(0), share: share(0.8) },
    add: (plan, values) => ({
      ...plan,
      hotWorker: { worker: number(values, 'worker'), share: number(values, 'share') },
    }),
  },
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
    const values = Object.entries(fault.keys).map(([key, rule]) => {
      const given = pairs.findLast((pair) => pair.key === key);
      return [key, given === undefined ? rule.fallback : readNumber(given.value, rule, `${name} with ${key}`)] as const;
    });
    return checked(fault.add(plan, Object.fromEntries(values)), name);
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
