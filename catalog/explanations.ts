import { quantities } from './equivalents.ts';
import { parsedYaml } from './parsed-yaml.ts';

export interface SignalFamily {
  readonly system: string;
  readonly family: string;
  /** The series that count, when not all do. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The value is the increase of `family` divided by the increase of this family. */
  readonly of?: string;
  /** The value times this is in the unit of the signal; absent: 1. */
  readonly factor?: number;
  /** Member of a quantity of `equivalents.yaml`: comparable with the families of other systems that are as well. */
  readonly shared: boolean;
}

/** A signal of the servers and the measures with which it can move. The keys are described in `explanations.schema.json`. */
export interface SignalRule {
  readonly signal: string;
  /** Its name in a table. */
  readonly title: string;
  readonly unit: string;
  readonly statistic: 'mean' | 'rate';
  /** How the series of a family become one value. */
  readonly across: 'sum' | 'mean';
  /** Where it moves when a symptom becomes worse. */
  readonly worse: 'up' | 'down' | 'either';
  /** Measures of the client. */
  readonly symptoms: readonly string[];
  readonly families: readonly SignalFamily[];
  /** What to look at next, by system. */
  readonly look_at: Readonly<Record<string, string>>;
}

type WrittenRule = Omit<SignalRule, 'families'> & {
  readonly quantity?: string;
  readonly families?: readonly Omit<SignalFamily, 'shared'>[];
};

let rules: readonly SignalRule[] | null = null;

/** The rules of `explanations.yaml`, each with its families. */
export function signalRules(): readonly SignalRule[] {
  rules ??= (parsedYaml(new URL('./explanations.yaml', import.meta.url)) as readonly WrittenRule[]).map(
    ({ quantity, families = [], ...rule }) => ({
      ...rule,
      families: [...familiesOf(quantity), ...families.map((family) => ({ ...family, shared: false }))],
    }),
  );
  return rules;
}

/** Of a quantity, those with a distribution of their own: a sum needs a divisor, which only a rule names. */
function familiesOf(quantity: string | undefined): readonly SignalFamily[] {
  const members = quantities().find((each) => each.quantity === quantity)?.families ?? [];
  return members
    .filter(({ only }) => only === undefined)
    .map(({ system, family, labels }) => ({
      system,
      family,
      shared: true,
      ...(labels === undefined ? {} : { labels }),
    }));
}
