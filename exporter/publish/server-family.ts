import { quantities } from '../../catalog/equivalents.ts';

/** One series of a server, as far as it decides whether it is published. */
export interface Republishable {
  readonly family: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Determines which series are published, and under which system: those of the vocabulary that systems share
 * (`catalog/equivalents.yaml`), which is what dashboards need, and those whose family fits one of the patterns (`*` for
 * any characters). `targetSystem` is what its page was recognized as. Null: not published.
 */
export function republisher(
  patterns: readonly string[],
): (series: Republishable, targetSystem: string | null) => { readonly system: string } | null {
  const wanted = patterns.map(globPattern);
  const members = new Map(
    Object.entries(
      Object.groupBy(
        quantities().flatMap(({ families }) => families),
        ({ family }) => family,
      ),
    ),
  );
  return ({ family, labels }, targetSystem) => {
    const fitting = (members.get(family) ?? []).filter((member) => carries(labels, member.labels));
    if (fitting.length > 0) {
      const own = fitting.find(({ system }) => system === targetSystem) ?? fitting[0];
      return { system: own?.system ?? '' };
    }
    return wanted.some((pattern) => pattern.test(family)) ? { system: targetSystem ?? '' } : null;
  };
}

function carries(labels: Republishable['labels'], wanted: Readonly<Record<string, string>> = {}): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}

function globPattern(glob: string): RegExp {
  const literal = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${glob.split(/\*+/).map(literal).join('.*')}$`);
}
