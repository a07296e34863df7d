/** What `rocm-smi` prints of a card or of the system: texts, whose names differ in case between its versions. */
export type RocmTexts = (name: RegExp) => string | undefined;

export interface RocmCards {
  /** By the names of the cards, such as `card0`. */
  readonly cards: readonly (readonly [name: string, texts: RocmTexts])[];
  readonly system: RocmTexts;
}

/** The output of `rocm-smi --json`; null: it is not a JSON object. */
export function rocmCards(json: string): RocmCards | null {
  const parsed = parsedJson(json);
  if (!isObject(parsed)) return null;
  const cards = Object.entries(parsed).flatMap(([name, facts]) =>
    /^card\d+$/.test(name) && isObject(facts) ? [[name, textsOf(facts)] as const] : [],
  );
  return { cards, system: textsOf(parsed['system']) };
}

function parsedJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function textsOf(facts: unknown): RocmTexts {
  const entries = isObject(facts) ? Object.entries(facts) : [];
  return (name) => {
    const found = entries.find(([key, text]) => name.test(key) && typeof text === 'string');
    return found?.[1] as string | undefined;
  };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
