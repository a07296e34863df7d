import type { Family } from './families.ts';
import type { PanelSpec } from './panel-spec.ts';

/** What a panel without data says: which page would have its families, and what switches them on. */
export function withoutData({ signals }: PanelSpec): string | undefined {
  const families = [...new Set(signals.flatMap((signal) => signal.families))];
  const [first] = families;
  if (first === undefined) return undefined;
  const { title, endpoint, switch: pageSwitch } = first.page;
  const page = `${title} exposes this on port ${endpoint.port}, path ${endpoint.path}, unless configured otherwise.`;
  const switched = pageSwitch === null ? '' : ` The page needs ${pageSwitch}.`;
  const conditions = [...new Set(families.flatMap(conditionOf))].filter((condition) => condition !== pageSwitch);
  const exposed = conditions.length === 0 ? '' : ` Exposed: ${conditions.join(' · ')}.`;
  return `No data. ${page}${switched}${exposed}`;
}

function conditionOf({ exposed, when }: Family): string[] {
  return exposed === 'always' || when === 'always' ? [] : [when.replace(/\.$/, '')];
}
